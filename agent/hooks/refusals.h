// Functions that no hook may stand in, and why: the traced program is never harmed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/hooks/object_functions.h"

namespace jtrace::hooks {

// Whether a function of an object may have a hook. Errors: FailedPrecondition, with the reason.
//
// A SIGTRAP ends a thread's process if the thread blocks it. glibc blocks all signals where it
// makes and ends threads and between vfork and exec; what it calls there is refused, by name. Also
// what jtrace's handlers call, and the loader and jtrace themselves.
absl::Status MayHook(const LoadedObject& object, const Function& function);

// Whether an int3 may stand where calls return to. Errors as above.
absl::Status MayAwaitReturnAt(const LoadedObject& object, uintptr_t address);

// A function of libjvm that begins the report of a crash.
bool IsErrorReport(const Function& function);

}  // namespace jtrace::hooks
