// The handler of SIGTRAP for hooks, if this process allows it.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace jtrace::hooks {

// Installs hot::HandleTrapSignal if it is not installed, and the memory that it counts in. Errors:
// FailedPrecondition: a thread or a signal handler blocks SIGTRAP, so that a hook would end the
// program; Unavailable.
absl::Status ReadyTraps();
// Whether hooks are still safe. Checks every thread.
absl::Status CheckTraps();
// One system call: another handler that was installed meanwhile, by a direct system call of the
// program (sigaction_guard.h sees all others), becomes the one before ours. Errors:
// FailedPrecondition: there is no room to keep it.
absl::Status KeepHandler();

// Objects that the loader has loaded since the process began.
uint64_t ObjectsLoadedSoFar();

}  // namespace jtrace::hooks
