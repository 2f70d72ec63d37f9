// The registers of the code that a signal interrupted. All functions are async-signal-safe.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace jtrace::signal_safe {

// Returns the address of the next instruction.
uintptr_t InterruptedPc(const ucontext_t& context);
// Returns the stack pointer.
uintptr_t InterruptedSp(const ucontext_t& context);
// Makes the handler return to `pc` instead.
void ContinueAt(ucontext_t& context, uintptr_t pc);

// Whether the thread was in a system call that had no result yet, or about to make one.
bool InterruptedCall(const ucontext_t& context);

}  // namespace jtrace::signal_safe
