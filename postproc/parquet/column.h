// The values of one column of a table, kept until the file is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::parquet {

enum class Type : uint8_t { kBoolean, kInt64, kText };

struct ColumnSpec {
  std::string_view name;  // a literal: outlives everything
  Type type = Type::kInt64;
  bool nullable = false;
};

// Values in the order of the rows. Distinct values are kept once, as a dictionary: an index for
// each row.
class Column {
 public:
  explicit Column(const ColumnSpec& spec) : spec_(spec) {}

  // For kBoolean (0 or 1) and kInt64.
  void Add(int64_t value);
  // UTF-8: bytes that are not become U+FFFD.
  void AddText(std::string_view value);
  // Only of a nullable column.
  void AddNull() { indexes_.push_back(kNull); }
  void AddMaybe(std::optional<int64_t> value) { value.has_value() ? Add(*value) : AddNull(); }

  // Row i becomes what row order[i] was.
  void Reorder(const std::vector<uint32_t>& order);

  const ColumnSpec& spec() const { return spec_; }
  size_t rows() const { return indexes_.size(); }

  static constexpr uint32_t kNull = UINT32_MAX;
  // For each row the place of its value among the distinct ones, or kNull.
  const std::vector<uint32_t>& indexes() const { return indexes_; }
  // The distinct values: of numbers their bits.
  const std::vector<uint64_t>& numbers() const { return numbers_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  ColumnSpec spec_;
  std::vector<uint32_t> indexes_;
  std::vector<uint64_t> numbers_;
  std::vector<std::string> texts_;
  absl::flat_hash_map<uint64_t, uint32_t> number_ids_;
  StringMap<uint32_t> text_ids_;
};

}  // namespace jtrace::postproc::parquet
