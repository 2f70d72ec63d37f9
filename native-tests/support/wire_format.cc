#include "native-tests/support/wire_format.h"

#include <stdexcept>

namespace jtrace::testing {
namespace {

uint64_t TakeVarint(std::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (in.empty() || shift > 63) throw std::runtime_error("bad varint");
    const auto byte = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

std::vector<WireField> Fields(std::string_view in) {
  std::vector<WireField> fields;
  while (!in.empty()) {
    const uint64_t tag = TakeVarint(in);
    WireField field;
    field.number = static_cast<uint32_t>(tag >> 3);
    if ((tag & 7) == 0) {
      field.value = TakeVarint(in);
    } else if ((tag & 7) == 1) {
      if (in.size() < 8) throw std::runtime_error("cut field");
      for (int i = 7; i >= 0; --i) {
        field.value = field.value << 8 | static_cast<unsigned char>(in[static_cast<size_t>(i)]);
      }
      in.remove_prefix(8);
    } else if ((tag & 7) == 2) {
      const uint64_t size = TakeVarint(in);
      if (size > in.size()) throw std::runtime_error("cut field");
      field.bytes = in.substr(0, size);
      field.has_bytes = true;
      in.remove_prefix(size);
    } else {
      throw std::runtime_error("unexpected wire type");
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<uint64_t> Numbers(const WireField& field) {
  if (!field.has_bytes) return {field.value};
  std::vector<uint64_t> numbers;
  for (std::string_view left = field.bytes; !left.empty();) numbers.push_back(TakeVarint(left));
  return numbers;
}

}  // namespace jtrace::testing
