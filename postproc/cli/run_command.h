// The commands `run` and `env`: programs that begin with the agent, rather than JVMs that run
// already.
#pragma once

#include <ostream>

#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {

// Runs line.program with the agent, then jtrace-post on its trace: as text, or with --open as a
// page in the browser. Returns the program's exit code, or kExitFailed if it left no trace.
// Messages go to `err`.
int RunUnderAgent(const CommandLine& line, std::ostream& out, std::ostream& err);

// Prints the line for programs whose command nobody can change: JAVA_TOOL_OPTIONS=….
int PrintEnvironment(const CommandLine& line, std::ostream& out, std::ostream& err);

}  // namespace jtrace::control
