// The wire format of protocol buffers, for readers that know messages by their public field
// numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace jtrace::testing {

// A field: its number, and a number or bytes.
struct WireField {
  uint32_t number = 0;
  uint64_t value = 0;
  std::string_view bytes;
  bool has_bytes = false;
};

// Throws std::runtime_error if the bytes are not a message.
std::vector<WireField> Fields(std::string_view in);
// Of a repeated field of numbers, packed or not.
std::vector<uint64_t> Numbers(const WireField& field);

}  // namespace jtrace::testing
