// Rewrites one instruction to run at another place (x86-64): the instruction under an int3 runs out
// of line, so that the int3 stays in place and no thread can run past it.
//
// Pure: reads nothing but the bytes it is given. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace jtrace::native_hooks {

// The maximum length of an instruction of x86-64.
inline constexpr size_t kMaxInstruction = 15;

// Code for a slot (OutOfLineCode): the instruction's work, then a jump to the next instruction or
// to the branch's target.
struct DisplacedInstruction {
  static constexpr size_t kMaxCode = 64;

  std::array<uint8_t, kMaxCode> code = {};
  uint8_t length = 0;              // of the original instruction, in bytes
  uint8_t done = 0;                // its work is done at this offset of `code`; kMaxCode: nowhere
  uintptr_t after = 0;             // the original address that a thread from `done` on stands for
  bool is_position_bound = false;  // it addresses memory relative to rip
};

// Returns the length of the first instruction in `bytes`; 0: they are not an instruction.
size_t InstructionLength(std::span<const uint8_t> bytes);

// Rewrites the first instruction in `bytes` (at most 15 of them matter), which is at `from`, for a
// slot at `slot`. Errors: FailedPrecondition: it cannot run elsewhere, and why; OutOfRange: `slot`
// is too far from `from` for this instruction.
absl::StatusOr<DisplacedInstruction> Displace(std::span<const uint8_t> bytes, uintptr_t from,
                                              uintptr_t slot);

}  // namespace jtrace::native_hooks
