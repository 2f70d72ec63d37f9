// Whether what the command line selects by name is in the traces at all.
#pragma once

#include "absl/status/status.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/input/command_line.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// An error names the option and the nearest name there is: an empty report would look like an
// answer. Routines are those of the tree, which has every call and every frame.
absl::Status CheckSelection(const CommandLine& line, const TraceModel& model, const CallTree& tree);
// The part that concerns records, not trees.
absl::Status CheckThread(const CommandLine& line, const TraceModel& model);

}  // namespace jtrace::postproc
