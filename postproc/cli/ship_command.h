// `jtrace ship`: traces of a folder become tables, or go to servers.
#pragma once

#include <ostream>

#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {

// Exit codes as for other commands. A line at the start and at the end on `out`, problems on `err`.
int RunShip(const CommandLine& line, std::ostream& out, std::ostream& err);

}  // namespace jtrace::control
