// jtrace fleet: runs the queries of postproc/fleet on DuckDB, in this process.
#pragma once

#include <ostream>

#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {

// Returns the exit code.
int RunFleet(const CommandLine& line, std::ostream& out, std::ostream& err);

}  // namespace jtrace::control
