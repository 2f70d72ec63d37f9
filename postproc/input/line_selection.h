// Reports about counts of lines: whether the command line and the trace fit them.
#pragma once

#include "absl/status/status.h"
#include "postproc/input/command_line.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// Whether all requested reports are about counts of lines, so that --of names classes and methods
// of these.
bool IsAboutLines(const CommandLine& line);
// Options that only some reports use, and options that cannot narrow counts of lines.
absl::Status CheckLineOptions(const CommandLine& line);
// Whether the trace has what the reports need and what --of names.
absl::Status CheckLines(const CommandLine& line, const LineProfile& lines);

}  // namespace jtrace::postproc
