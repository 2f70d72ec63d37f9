// Reports about counts of lines: whether the command line and the trace fit them.
#pragma once

#include "absl/status/status.h"
#include "postproc/input/command_line.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// How the traces have counts of blocks.
enum class BlocksCounted { kNot, kByMethod, kByPath, kBoth };
// --metric=bytecodes and cycles, after reading: they need counts of blocks, and by call path if the
// report is about paths.
absl::Status CheckCosts(const CommandLine& line, BlocksCounted counted);

// Whether all requested reports are about counts of lines, so that --of names classes and methods
// of these.
bool IsAboutLines(const CommandLine& line);
// Options that only some reports use, and options that cannot narrow counts of lines.
absl::Status CheckLineOptions(const CommandLine& line);
// Whether the trace has what the reports need and what --of names.
absl::Status CheckLines(const CommandLine& line, const LineProfile& lines);

}  // namespace jtrace::postproc
