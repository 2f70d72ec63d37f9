// `jtrace start`: what it records by default, and its help.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {

// InvalidArgument: options that contradict --probes, or that do nothing without probes.
absl::Status CheckStart(const CommandLine& line);

// The agent's options for start. Without mode= it records samples, which change no class; with
// --probes calls, too.
std::string StartOptions(const CommandLine& line);

std::string StartHelpText();

}  // namespace jtrace::control
