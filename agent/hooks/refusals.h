// Functions that no hook may stand in, and why: the traced program is never harmed.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/hooks/loaded_objects.h"

namespace jtrace::hooks {

// Whether a function of an object may have a hook. Errors: FailedPrecondition, with the reason.
//
// A SIGTRAP ends a thread's process if the thread blocks it. glibc blocks all signals where it
// makes and ends threads and between vfork and exec; what it calls there is refused, by name. Also
// what jtrace's handlers call, and the loader and jtrace themselves.
absl::Status MayHook(const LoadedObject& object, const Function& function);

// The threads of this process that block SIGTRAP, by name; the agent's own do not.
std::vector<std::string> ThreadsThatBlockTraps();

}  // namespace jtrace::hooks
