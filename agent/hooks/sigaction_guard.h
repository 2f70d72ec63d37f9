// A handler of SIGTRAP that the program installs while hooks stand must not get their traps: it
// would go on in the middle of an instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::hooks {

// From now on libc's sigaction, signal, sigset and their like come to hot::GuardedSigaction with
// SIGTRAP, whoever calls them and however they were found; no name is exported for that. All of
// them end in one jump or call inside of libc, from what checks the signal's number to what asks
// the kernel. Of the distance that it jumps one byte is changed, so that each thread goes the old
// way or the new one; no instruction begins or ends elsewhere than before. There is no int3:
// threads that block SIGTRAP and children between vfork and exec may call sigaction, too. It stays
// for the life of the process, like our handler.
//
// Once in a process; later calls return what the first did. Any thread but handlers. Errors:
// Unimplemented: this libc does it otherwise; Unavailable, PermissionDenied: the system gives no
// memory there, or lets no program change its code.
absl::Status GuardSigaction();

// The jump or call in `sigaction`'s code (at most `size` bytes at `address`) to what asks the
// kernel.
struct DirectBranch {
  uintptr_t address;
  uintptr_t target;
};
absl::StatusOr<DirectBranch> FindKernelSigaction(uintptr_t address, size_t size);

}  // namespace jtrace::hooks
