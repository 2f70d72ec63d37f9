// Installs the handler of SIGTRAP, checks that the process can have hooks, and keeps our handler in
// front of those that the program installs. Any thread but signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::native_hooks {

// Installs HandleTrapSignal, and reserves the memory that it counts in, unless that is done.
// Errors: FailedPrecondition: a thread or a signal handler blocks SIGTRAP, so that a hook would end
// the program; others: there is no memory, or the kernel refuses the handler.
absl::Status PrepareTrapHandler();
// Checks every thread, and calls EnsureTrapHandler. Errors as above: hooks are not safe.
absl::Status CheckTraps();
// Installs our handler again if the program has replaced it, by a direct system call or in a libc
// that InterceptSigaction does not know; the program's becomes the one before ours. Otherwise takes
// one system call. Errors: FailedPrecondition: there is no room to keep the program's.
absl::Status EnsureTrapHandler();

// Returns how many objects the loader has loaded since the process began.
uint64_t ObjectsLoadedSoFar();

// Returns the threads that block SIGTRAP for more than 10 ms, and the program's signal handlers
// that block it while they run, for people: "thread 'deaf'", "the handler of SIGUSR1 in libx.so".
// If such a thread hits an int3, the kernel ends the process. jtrace's own handlers call nothing
// that may be hooked. Reads /proc.
std::vector<std::string> FindTrapBlockers();

// A handler of SIGTRAP that the program installs while there are hooks must not get their traps: it
// would continue in the middle of an instruction. From now on libc's sigaction, signal, sigset and
// similar functions call InterceptedSigaction for SIGTRAP, regardless of their caller and of how
// they were found; no name is exported for that. All of them end in one jump or call inside libc,
// from the check of the signal's number to the system call. One byte of its distance is changed, so
// that each thread takes the old path or the new one; no instruction begins or ends elsewhere than
// before. There is no int3: threads that block SIGTRAP and children between vfork and exec may also
// call sigaction. It stays for the life of the process, like our handler.
//
// Once in a process; later calls return the first result. Any thread but handlers. Errors:
// Unimplemented: this libc is different; Unavailable, PermissionDenied: the system gives no memory
// there, or does not let programs change their code.
absl::Status InterceptSigaction();

// The jump or call in `sigaction`'s code (at most `size` bytes at `address`) to the function that
// makes the system call.
struct DirectBranch {
  uintptr_t address;
  uintptr_t target;
};
absl::StatusOr<DirectBranch> FindKernelSigaction(uintptr_t address, size_t size);

}  // namespace jtrace::native_hooks
