// The handler of SIGTRAP for hooks, if this process allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::native_hooks {

// Installs HandleTrapSignal if it is not installed, and the memory that it counts in. Errors:
// FailedPrecondition: a thread or a signal handler blocks SIGTRAP, so that a hook would end the
// program; Unavailable.
absl::Status ReadyTraps();
// Whether hooks are still safe. Checks every thread.
absl::Status CheckTraps();
// One system call: another handler that was installed meanwhile, by a direct system call of the
// program (trap_signal.h sees all others), becomes the one before ours. Errors:
// FailedPrecondition: there is no room to keep it.
absl::Status EnsureTrapHandler();

// Objects that the loader has loaded since the process began.
uint64_t ObjectsLoadedSoFar();

// Threads that make int3 a danger for the process: if a thread that blocks SIGTRAP hits one, the
// kernel ends the thread and the process.

// The threads that block SIGTRAP for more than a moment, and the program's signal handlers that
// block it while they run, for people: "thread 'deaf'", "the handler of SIGUSR1 in libx.so".
// jtrace's own call nothing that may be hooked. Any thread; reads /proc.
std::vector<std::string> WhatBlocksTraps();

// A handler of SIGTRAP that the program installs while there are hooks must not get their traps: it
// would continue in the middle of an instruction.

// From now on libc's sigaction, signal, sigset and similar functions call GuardedSigaction for
// SIGTRAP, regardless of their caller and of how they were found; no name is exported for that. All
// of them end in one jump or call inside libc, from the check of the signal's number to the system
// call. One byte of its distance is changed, so that each thread takes the old path or the new one;
// no instruction begins or ends elsewhere than before. There is no int3: threads that block SIGTRAP
// and children between vfork and exec may also call sigaction. It stays for the life of the
// process, like our handler.
//
// Once in a process; later calls return the first result. Any thread but handlers. Errors:
// Unimplemented: this libc is different; Unavailable, PermissionDenied: the system gives no memory
// there, or does not let programs change their code.
absl::Status GuardSigaction();

// The jump or call in `sigaction`'s code (at most `size` bytes at `address`) to the function that
// makes the system call.
struct DirectBranch {
  uintptr_t address;
  uintptr_t target;
};
absl::StatusOr<DirectBranch> FindKernelSigaction(uintptr_t address, size_t size);

}  // namespace jtrace::native_hooks
