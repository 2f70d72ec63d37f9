// Whether this processor's code can have hooks.
#pragma once

#include "absl/status/status.h"

namespace jtrace::hooks {

// Unimplemented: no, and what is missing.
absl::Status HooksAreSupported();

}  // namespace jtrace::hooks
