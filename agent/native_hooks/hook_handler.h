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
  std::atomic<uint64_t> open_left{0};       // by longjmp or an exception: their end was seen late
};
extern constinit HookCounters hook_counters;

// The sigaction handler (SA_SIGINFO | SA_NODEFER | SA_ONSTACK), with every signal blocked except
// those of faults: samples and unwinds share the thread's ring. A trap that is not ours is passed
// to the program's handler (trap_action.h), which runs with the signals blocked that it wants, but
// never SIGTRAP: a hook in code that it calls would end the program.
//
// Before a site is known the handler calls nothing, and then nothing a second time: so functions
// that it uses itself can do no harm if they are hooked.
void HandleTrapSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::native_hooks
