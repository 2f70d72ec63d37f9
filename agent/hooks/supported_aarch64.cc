#include "agent/hooks/supported.h"

namespace jtrace::hooks {

// The rest of this folder decodes x86-64's instructions, and its handler expects an int3.
absl::Status HooksAreSupported() { return absl::UnimplementedError("hooks need x86-64"); }

}  // namespace jtrace::hooks
