// The handler of SIGTRAP for hooks, if this process allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace jtrace::native_hooks {

// Installs HandleTrapSignal if it is not installed, and the memory that it counts in. Errors:
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

// Threads that make int3 a danger for the process: if a thread that blocks SIGTRAP hits one, the
// kernel ends the thread and the process.

// The threads that block SIGTRAP for more than a moment, and the program's signal handlers that
// block it while they run, for people: "thread 'deaf'", "the handler of SIGUSR1 in libx.so".
// jtrace's own call nothing that may be hooked. Any thread; reads /proc.
std::vector<std::string> WhatBlocksTraps();

}  // namespace jtrace::native_hooks
