// Finds the return address of code that has no unwind tables: follows the stack pointer through its
// instructions. Async-signal-safe.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// Where code keeps the rsp with which it will continue. The compilers' string search copies rsp to
// a register, lowers rsp by what the data needs, pushes the register, and ends with `pop rsp`.
struct SavedSp {
  enum Kind : uint8_t {
    kNone,
    kOnTop,       // the word at rsp
    kInRegister,  // `number`, not pushed yet
  };
  Kind kind = kNone;
  int number = -1;
};

// Looks ahead from `pc` in the order of addresses, over jumps: such code is contiguous. kNone:
// there is no `pop rsp` before a call, a return or a copy of rsp.
SavedSp FindSavedSp(uintptr_t pc, uintptr_t end);

// Where the return address is, seen from code that has no frame of known size.
struct FrameShape {
  enum Kind : uint8_t {
    kUnknown,
    kAtSp,  // at sp + offset; rbp was saved at sp + rbp_offset, if that is >= 0
    kAtFp,  // at rbp + offset; the caller's rbp at *rbp
  };
  Kind kind = kUnknown;
  int32_t offset = 0;
  int32_t rbp_offset = -1;
};

// Follows rsp in a straight line from `entry`, where the return address is on top, to `pc`. Code
// after a jump or return is assumed to have the stack of the deepest point so far.
FrameShape ShapeFromEntry(uintptr_t entry, uintptr_t pc);

// Follows rsp from `pc` through at most `limit` instructions that only take down the frame, to a
// return. kUnknown if there is anything else before it, except for code that a branch leads around.
FrameShape ShapeToReturn(uintptr_t pc, uintptr_t end, int limit);

// Returns the bytes that a slow path with saved registers takes off the stack, from its return
// address `pc` on, before it jumps back to the main path; -1 if the code is not like that.
int PoppedBeforeJump(uintptr_t pc, uintptr_t end, int limit);

}  // namespace jtrace::samples
