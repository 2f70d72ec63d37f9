// Prefixes, opcode and length of x86-64 instructions (Intel SDM vol. 2, appendix A).
#pragma once

#include <cstdint>

namespace jtrace::hot {

constexpr int kMaxInstruction = 15;  // bytes
// The number of bytes that ReadOpcode may read.
constexpr int kReadableBytes = kMaxInstruction + 9;

// Opcode maps.
enum Map : uint8_t { kOneByte, k0F, k0F38, k0F3A };

// An instruction's prefixes and opcode.
struct Opcode {
  Map map = kOneByte;
  uint8_t code = 0;
  bool operand16 = false;  // 66 prefix
  uint8_t rex = 0;
  bool vector = false;            // VEX or EVEX
  const uint8_t* next = nullptr;  // ModRM or immediate
};

// `p`: kReadableBytes bytes. Signal-safe.
Opcode ReadOpcode(const uint8_t* p);

// The bytes of the instruction that begins at `begin` and has this opcode; may be more than
// kMaxInstruction for invalid ones.
int InstructionLength(const uint8_t* begin, const Opcode& op);

}  // namespace jtrace::hot
