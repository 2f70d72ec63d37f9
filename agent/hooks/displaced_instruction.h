// One instruction, made to run at another place than its own (x86-64): what an int3 stands on goes
// on out of line, so that the int3 stays where it is and no thread can run past it.
//
// Pure: reads nothing but the bytes it is given. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace jtrace::hooks {

// An instruction of x86-64 is no longer.
inline constexpr size_t kMaxInstruction = 15;

// Code for a slot: the instruction's work, then a jump to what follows it or to where it branches.
struct DisplacedInstruction {
  static constexpr size_t kMaxCode = 64;

  std::array<uint8_t, kMaxCode> code = {};
  uint8_t length = 0;              // of the instruction at its own place
  uint8_t done = 0;                // offset in `code` from which on its work is done
  uintptr_t after = 0;             // where the thread then stands, in terms of the own place
  bool is_position_bound = false;  // names memory relative to where it runs
};

// The length of the instruction that `bytes` begin with; 0: they are none.
size_t InstructionLength(std::span<const uint8_t> bytes);

// The instruction that `bytes` (at most 15 of them matter) begin with, which stands at `from`, for
// a slot at `slot`. Errors: FailedPrecondition: it cannot run elsewhere, and why; OutOfRange:
// `slot` is too far from `from` for this one.
absl::StatusOr<DisplacedInstruction> Displace(std::span<const uint8_t> bytes, uintptr_t from,
                                              uintptr_t slot);

}  // namespace jtrace::hooks
