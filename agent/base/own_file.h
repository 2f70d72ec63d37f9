// Whether a file that is to be written belongs to the program's user alone.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace jtrace {

// Whether the open file may be made ours: a regular file of this user's with one name, or a device
// such as /dev/null. In a folder that others can write to, it may be one that somebody put there to
// read along, or another user's that a privileged program should damage.
absl::Status CheckOwnFile(int fd);

// Why such a file could not be opened without waiting and without following links, by errno: what
// opens as no file has an error of its own, whose usual text is about devices or loops.
std::string WhyNotOpened(int error);

}  // namespace jtrace
