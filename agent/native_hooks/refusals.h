// Functions in which no hook is allowed, and why: the traced program is never harmed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {

// Whether a function of an object may have a hook. Errors: FailedPrecondition, with the reason.
//
// A SIGTRAP ends a thread's process if the thread blocks it. glibc blocks all signals when it
// starts and ends threads and between vfork and exec; the functions that it calls there are refused
// by name. Also refused: functions that jtrace's handlers call, the loader, and jtrace itself.
absl::Status MayHook(const LoadedObject& object, const Function& function);

// Whether an int3 is allowed at a return address. Errors as above.
absl::Status MayAwaitReturnAt(const LoadedObject& object, uintptr_t address);

// Whether it is the function of libjvm that begins the report of a crash.
bool IsErrorReport(const Function& function);

}  // namespace jtrace::native_hooks
