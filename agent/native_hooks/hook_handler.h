// The handler of SIGTRAP: runs when a thread reaches a hook in native code.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace jtrace::native_hooks {

// Whether this processor's code can have hooks.
extern const bool kHasHooks;

// The handler's losses.
struct HookCounters {
  std::atomic<uint64_t> unwinds_missed{0};  // the thread is not sampled, or its ring was full
  std::atomic<uint64_t> open_dropped{0};    // calls whose return was not awaited: too many open
  std::atomic<uint64_t> unwound_calls{0};   // calls left by longjmp or an exception, seen late
};
extern constinit HookCounters hook_counters;

// The sigaction handler (SA_SIGINFO | SA_NODEFER | SA_ONSTACK). All signals are blocked except
// faults and the two that glibc reserves: samples and unwinds share the thread's ring. A trap that
// is not ours goes to the program's handler (trap_action.h), which runs with the signals blocked
// that it wants, but never SIGTRAP: a hook in code that it calls would end the program.
//
// Functions that the handler itself calls do no harm if they are hooked: it calls none before it
// has found the site, and its thread passes further hooks without an action until it is done.
void HandleTrapSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::native_hooks
