#include "agent/hooks/supported.h"

namespace jtrace::hooks {

absl::Status HooksAreSupported() { return absl::OkStatus(); }

}  // namespace jtrace::hooks
