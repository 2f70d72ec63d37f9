// A virtual root: the tree below one routine (--root, S4.12).
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

struct RerootedTree {
  CallTree tree;
  std::vector<ThreadSummary> threads;  // those that have the routine
};

// The same tree, without distinguishing calls by their places.
RerootedTree MergePlaces(const CallTree& tree, const std::vector<ThreadSummary>& threads);

// In each thread, all outermost activations of the routines that `pattern` names are merged below
// the thread's root, which has no time itself. `with_places`: calls stay distinguished by them.
RerootedTree Reroot(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                    const TraceModel& model, std::string_view pattern, bool with_places);

// Without the nodes that `is_folded` names, which is called from the top for every node but the
// threads' roots. Their time, ticks and metrics are the own ones of the nearest node above that is
// kept, and what they call is called by it; their calls and samples are in no node.
RerootedTree FoldNodes(
    const CallTree& tree, const std::vector<ThreadSummary>& threads,
    absl::FunctionRef<bool(const CallNode& node, bool is_caller_folded)> is_folded);

}  // namespace jtrace::postproc
