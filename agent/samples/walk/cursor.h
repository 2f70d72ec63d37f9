// The frame that a walk has reached.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/signal_safe/patch_sites.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {

// A thread's stack, [low, high); {0, 0}: not known.
struct StackRange {
  uintptr_t low = 0;
  uintptr_t high = 0;
};

// The bytes that are read above sp at most, if the stack's range is not known.
inline constexpr uintptr_t kMaxUnboundedStackBytes = 8 << 20;

// A caller's rbp, and the address it was read from; 0: the callee left the register alone.
struct SavedFp {
  uintptr_t value;
  uintptr_t slot;
};

// A frame's pc, and the registers that finding its caller needs. No unwinding of HotSpot's or the C
// library's code needs more of them (x86-64; see the README).
struct Cursor {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;  // rbp
  uintptr_t bx;  // rbx; followed through native frames only
  bool bx_known;
  // End of the stack that sp is in, or of the part that is read if that is not known.
  uintptr_t stack_high;
  // Whether sp is in the thread's stack: then everything in [sp, stack_high) is mapped. Below sp
  // there may be a guard page.
  bool stack_known;
  // True: pc was interrupted, and `context` has the other registers. False: pc is a return address.
  bool interrupted;
  const ucontext_t* context;
  // Where pc and fp were read; 0: a register had it, or fp is the callee's.
  uintptr_t pc_slot;
  uintptr_t fp_slot;
  // What the last step used, for LastWalk.
  bool step_used_fp;
  bool step_used_bx;
  uintptr_t step_method;  // of an interpreted frame, else 0
  uintptr_t step_bytecode_pointer;

  // Starts at interrupted code. It may run on another stack than the handler or the frame before.
  void SetInterrupted(const ucontext_t* at, StackRange stack);

  // Returns an interrupted register by the C library's index (REG_RAX).
  uintptr_t Register(int index) const;
  // Returns one by the number that instructions use: 0 rax, 1 rcx, … 15 r15.
  uintptr_t EncodedRegister(int number) const;

  // Whether an aligned word at `address` is in a frame above sp, or in the red zone below it.
  bool InStack(uintptr_t address) const {
    constexpr uintptr_t kRedZone = 128;
    return address % 8 == 0 && address >= sp - kRedZone && address + 8 <= stack_high;
  }

  // Reads a word of the stack; false if it is not in InStack, or cannot be read.
  bool Load(uintptr_t address, uintptr_t* value) const {
    if (!InStack(address)) return false;
    if (!stack_known || address < sp) return signal_safe::SafeReadWord(address, value);
    *value = *reinterpret_cast<const uintptr_t*>(address);
    return true;
  }

  SavedFp OwnFp() const { return {fp, 0}; }
  bool LoadFp(uintptr_t address, SavedFp* saved) const {
    saved->slot = address;
    return Load(address, &saved->value);
  }

  // Moves to the caller. return_slot: where return_address was read; 0: in a register.
  void Return(uintptr_t return_address, uintptr_t return_slot, uintptr_t caller_sp,
              SavedFp caller_fp) {
    pc = return_address;
    pc_slot = return_slot;
    sp = caller_sp;
    fp = caller_fp.value;
    fp_slot = caller_fp.slot;
    bx_known = false;
    interrupted = false;
  }
};

}  // namespace jtrace::samples
