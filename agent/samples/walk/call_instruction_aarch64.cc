#include <cstring>

#include "agent/samples/walk/call_instruction.h"

namespace jtrace::samples {

bool EndsWithCall(const uint8_t bytes[8]) {
  uint32_t instruction;
  std::memcpy(&instruction, bytes + sizeof instruction, sizeof instruction);
  const bool is_bl = (instruction & 0xfc000000) == 0x94000000;
  const bool is_blr = (instruction & 0xfffffc1f) == 0xd63f0000;
  return is_bl || is_blr;
}

}  // namespace jtrace::samples
