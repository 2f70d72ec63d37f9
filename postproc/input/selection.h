// Whether the traces contain what the command line selects by name.
#pragma once

#include "absl/status/status.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/input/command_line.h"
#include "postproc/lines/line_profile.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// An error names the option and the nearest existing name: an empty report would look like an
// answer. Routines are those of the tree, which has every call and every frame.
absl::Status CheckSelection(const CommandLine& line, const TraceModel& model, const CallTree& tree);
// Only for records, not for trees.
absl::Status CheckThread(const CommandLine& line, const TraceModel& model);
// The same of --with-label.
absl::Status CheckLabels(const CommandLine& line, const TraceModel& model);

// How the traces have counts of blocks.
enum class BlocksCounted { kNot, kByMethod, kByPath, kBoth };
// --metric=bytecodes and cycles: they need counts of blocks, and by call path if the report is
// about paths.
absl::Status CheckCosts(const CommandLine& line, BlocksCounted counted);
// Whether the trace has the counts of lines that the reports need, and what --of names.
absl::Status CheckLines(const CommandLine& line, const LineProfile& lines);

// Whether any of the reports distinguishes calls by their places (sites=on).
bool ShowsSites(const CommandLine& line);
// Fails if a report needs places and the traces have none.
absl::Status CheckSites(const CommandLine& line, const CallTree& tree);

}  // namespace jtrace::postproc
