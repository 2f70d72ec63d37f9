// Hooks need displaced instructions, which are x86-64 only: here no handler is installed.
#include "agent/native_hooks/hook_handler.h"

namespace jtrace::native_hooks {

constinit const bool kHasHooks = false;
constinit HookCounters hook_counters;

void HandleTrapSignal(int, siginfo_t*, void*) {}

}  // namespace jtrace::native_hooks
