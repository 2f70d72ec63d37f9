// Whether a file that is to be written belongs to the program's user alone.
#pragma once

#include "absl/status/status.h"

namespace jtrace {

// Whether the open file may be made ours: a regular file of this user's with one name, or a device
// such as /dev/null. In a folder that others can write to, it may be one that somebody put there to
// read along, or another user's that a privileged program should damage.
absl::Status CheckOwnFile(int fd);

}  // namespace jtrace
