// Whether the options of a command line fit together and fit the reports: before any trace is read.
#pragma once

#include "absl/status/status.h"
#include "postproc/input/command_line.h"

namespace jtrace::postproc {

// The error names the option, and what to do.
absl::Status CheckTogether(const CommandLine& line);
// Whether the output is none of the traces: opening it truncates it.
absl::Status CheckOutput(const CommandLine& line);

}  // namespace jtrace::postproc
