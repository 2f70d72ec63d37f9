// There are no hooks on aarch64 (agent/hooks/supported_aarch64.cc), so no handler is installed.
#include "agent/hot/hook_handler.h"

namespace jtrace::hot {

constinit HookCounters hook_counters;

void HandleTrapSignal(int, siginfo_t*, void*) {}

}  // namespace jtrace::hot
