// The effect of an instruction on the stack pointer: enough x86-64 decoding to find return
// addresses in code that has no unwind tables (stack_shape_x86_64.h). Async-signal-safe.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// How an instruction changes rsp and rbp, or where it continues.
enum class StackEffect : uint8_t {
  kNone,
  kMove,      // rsp falls by `delta` bytes (negative: rises): push, pop, sub, add, lea
  kPushRbp,   // as kMove by 8
  kPopRbp,    // as kMove by -8
  kSetFrame,  // mov rbp, rsp
  kSaveRbp,   // mov [rsp + n], rbp
  kLeave,     // mov rsp, rbp; pop rbp
  kReturn,
  kJump,  // unconditional: the code after it is reached from elsewhere
  kCall,
  kUnknown,  // rsp gets an unknown value
};

// A decoded instruction.
struct Instruction {
  int length;  // 0: could not be decoded
  StackEffect effect;
  int32_t delta;
};

// Decodes the instruction at `at`; reads no byte at or past `end`.
Instruction Decode(uintptr_t at, uintptr_t end);

// Return the number of the general register (0 rax … 15 r15) that `jmp register`, `push register`
// or `pop register` at `at` names; -1 if there is another instruction.
int JumpedRegister(uintptr_t at, uintptr_t end);
int PushedRegister(uintptr_t at, uintptr_t end);
int PoppedRegister(uintptr_t at, uintptr_t end);
// Returns the same for `mov rsp, register`.
int RegisterToSp(uintptr_t at, uintptr_t end);

// Returns the target of the conditional jump at `at`; 0 if there is another instruction.
uintptr_t ConditionalTarget(uintptr_t at, uintptr_t end);

// Prefixes, opcode and length of x86-64 instructions (Intel SDM vol. 2, appendix A).
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

// Decodes the opcode at `p`, of which kReadableBytes bytes must be readable.
Opcode ReadOpcode(const uint8_t* p);

// Returns the length in bytes of the instruction that begins at `begin` and has this opcode; it may
// be more than kMaxInstruction for invalid ones.
int InstructionLength(const uint8_t* begin, const Opcode& op);

}  // namespace jtrace::samples
