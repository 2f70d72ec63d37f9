// A tree without some of its nodes: what they have is their caller's.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/reroot.h"
#include "postproc/calltree/tree_builder.h"

namespace jtrace::postproc {

// Without the nodes that `is_folded` names, which is called from the top for every node but the
// threads' roots. Their time, ticks and metrics are the own ones of the nearest node above that is
// kept, and what they call is called by it; their calls and samples are in no node.
RerootedTree FoldNodes(
    const CallTree& tree, const std::vector<ThreadSummary>& threads,
    absl::FunctionRef<bool(const CallNode& node, bool is_caller_folded)> is_folded);

}  // namespace jtrace::postproc
