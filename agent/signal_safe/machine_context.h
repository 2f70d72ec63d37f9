// What a signal interrupted.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace jtrace::signal_safe {

// The address of the instruction that would have been next. Async-signal-safe.
uintptr_t InterruptedPc(const ucontext_t& context);
// The stack pointer there. Async-signal-safe.
uintptr_t InterruptedSp(const ucontext_t& context);
// The handler returns to `pc` instead. Async-signal-safe.
void ContinueAt(ucontext_t& context, uintptr_t pc);

// Whether the signal interrupted a system call: the thread waits in it, unless it has its result.
// Async-signal-safe.
bool InterruptedCall(const ucontext_t& context);

}  // namespace jtrace::signal_safe
