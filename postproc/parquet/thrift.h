// The compact protocol of Apache Thrift, in which Parquet writes its headers and its footer. Only
// what these need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace jtrace::postproc::parquet {

// The fields of one struct, in the order of their numbers; nested structs are open while their
// function runs.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string& out) : out_(out) { last_field_.push_back(0); }

  void Int(int field, int64_t value, bool is_wide = false);
  void Wide(int field, int64_t value) { Int(field, value, /*is_wide=*/true); }
  void Binary(int field, std::string_view bytes);
  void Struct(int field, absl::FunctionRef<void()> fields);
  // `element(i)` writes the fields of the i-th struct.
  void Structs(int field, size_t count, absl::FunctionRef<void(size_t)> element);
  void Ints(int field, const std::vector<int32_t>& values);
  void Texts(int field, const std::vector<std::string>& values);
  // The outermost struct ends.
  void End() { out_.push_back(0); }

 private:
  void Field(int field, int type);
  void ListHead(int field, size_t count, int type);
  void Nested(absl::FunctionRef<void()> fields);

  std::string& out_;
  std::vector<int> last_field_;  // of each struct that is open
};

// As Thrift and Parquet's hybrid encoding write numbers: seven bits a byte, the lowest first.
void AppendVarint(uint64_t value, std::string& out);

}  // namespace jtrace::postproc::parquet
