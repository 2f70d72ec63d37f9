// Whether a file that is to be written belongs only to the program's user.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace jtrace {

// Whether the open file may be overwritten: a regular file of this user with one name, or a device
// such as /dev/null. In a folder that others can write to, it may be one that another user put
// there to read along, or another user's that a privileged program should damage.
absl::Status CheckOwnFile(int fd);

// Why such a file could not be opened without waiting and without following links, by errno: paths
// that open as something other than a file fail with errors whose usual texts are about devices or
// loops.
std::string WhyNotOpened(int error);

}  // namespace jtrace
