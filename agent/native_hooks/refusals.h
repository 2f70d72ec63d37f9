// Decides where an int3 is allowed: places where it would harm the program are refused, with the
// reason. Any thread but signal handlers.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/native_hooks/object_functions.h"

namespace jtrace::native_hooks {

// Returns OK if a function may have a hook. Errors: FailedPrecondition, with the reason.
//
// A trap ends the process if its thread blocks SIGTRAP. glibc blocks all signals when it starts and
// ends threads and between vfork and exec; the functions that it calls there are refused by name.
// Also refused: functions that jtrace's handlers call, the loader, and jtrace itself.
absl::Status MayHook(const LoadedDso& object, const Function& function);

// Returns OK if a return address may have an int3. Errors as above.
absl::Status MayAwaitReturnAt(const LoadedDso& object, uintptr_t address);

// Whether it is the function of libjvm that begins the report of a crash.
bool IsErrorReport(const Function& function);

}  // namespace jtrace::native_hooks
