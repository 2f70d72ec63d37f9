// Displaced instructions are x86-64's: there are no hooks here, and no handler is installed.
#include "agent/native_hooks/hook_handler.h"

namespace jtrace::native_hooks {

constinit const bool kHasHooks = false;
constinit HookCounters hook_counters;

void HandleTrapSignal(int, siginfo_t*, void*) {}

}  // namespace jtrace::native_hooks
