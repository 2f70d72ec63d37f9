// Whether the traces contain what the command line selects by name.
#pragma once

#include "absl/status/status.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/input/command_line.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// An error names the option and the nearest existing name: an empty report would look like an
// answer. Routines are those of the tree, which has every call and every frame.
absl::Status CheckSelection(const CommandLine& line, const TraceModel& model, const CallTree& tree);
// Only for records, not for trees.
absl::Status CheckThread(const CommandLine& line, const TraceModel& model);
// The same of --with-label.
absl::Status CheckLabels(const CommandLine& line, const TraceModel& model);

}  // namespace jtrace::postproc
