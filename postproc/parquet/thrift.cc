#include "postproc/parquet/thrift.h"

namespace jtrace::postproc::parquet {
namespace {

// Types of the compact protocol.
constexpr int kI32 = 5;
constexpr int kI64 = 6;
constexpr int kBinary = 8;
constexpr int kList = 9;
constexpr int kStruct = 12;
constexpr int kMostShort = 15;  // a distance of fields, or a length, beside the type in one byte

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

void AppendBinary(std::string_view bytes, std::string& out) {
  AppendVarint(bytes.size(), out);
  out.append(bytes);
}

}  // namespace

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void ThriftWriter::Field(int field, int type) {
  const int distance = field - last_field_.back();
  last_field_.back() = field;
  if (distance >= 1 && distance <= kMostShort) {
    out_.push_back(static_cast<char>(distance << 4 | type));
    return;
  }
  out_.push_back(static_cast<char>(type));
  AppendVarint(ZigZag(field), out_);
}

void ThriftWriter::Int(int field, int64_t value, bool is_wide) {
  Field(field, is_wide ? kI64 : kI32);
  AppendVarint(ZigZag(value), out_);
}

void ThriftWriter::Binary(int field, std::string_view bytes) {
  Field(field, kBinary);
  AppendBinary(bytes, out_);
}

void ThriftWriter::Nested(absl::FunctionRef<void()> fields) {
  last_field_.push_back(0);
  fields();
  last_field_.pop_back();
  out_.push_back(0);
}

void ThriftWriter::Struct(int field, absl::FunctionRef<void()> fields) {
  Field(field, kStruct);
  Nested(fields);
}

void ThriftWriter::ListHead(int field, size_t count, int type) {
  Field(field, kList);
  if (count < kMostShort) {
    out_.push_back(static_cast<char>(count << 4 | static_cast<size_t>(type)));
    return;
  }
  out_.push_back(static_cast<char>(kMostShort << 4 | type));
  AppendVarint(count, out_);
}

void ThriftWriter::Structs(int field, size_t count, absl::FunctionRef<void(size_t)> element) {
  ListHead(field, count, kStruct);
  for (size_t i = 0; i < count; ++i) Nested([&] { element(i); });
}

void ThriftWriter::Ints(int field, const std::vector<int32_t>& values) {
  ListHead(field, values.size(), kI32);
  for (const int32_t value : values) AppendVarint(ZigZag(value), out_);
}

void ThriftWriter::Texts(int field, const std::vector<std::string>& values) {
  ListHead(field, values.size(), kBinary);
  for (const std::string& value : values) AppendBinary(value, out_);
}

}  // namespace jtrace::postproc::parquet
