// A virtual root: the tree below one routine (--root, S4.12).
#pragma once

#include <string_view>
#include <vector>

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

}  // namespace jtrace::postproc
