// Adds runs of calls that were summed up elsewhere to the tree.
#include "postproc/calltree/tree_builder.h"

namespace jtrace::postproc {

bool TreeBuilder::Fits(const ThreadState& state, const ReducedCalls& calls) const {
  const size_t ended = calls.outside.size() - 1;
  if (ended > state.open.size()) return false;
  for (size_t i = 0; i < ended; ++i) {
    const NodeId open = state.open[state.open.size() - 1 - i];
    if (tree_.node(open).routine != calls.nodes[calls.outside[i]].routine) return false;
  }
  // Off time before the run belongs to the time before the first call.
  return !state.off;
}

// The values that nodes got in the run, and activations that were open before it.
void TreeBuilder::AddReducedNodes(const ThreadState& state, const ReducedCalls& calls) {
  reduced_nodes_.clear();
  size_t level = state.open.size();
  for (const ReducedCalls::Node& from : calls.nodes) {
    NodeId id;
    if (from.parent == ReducedCalls::kNoNode) {
      id = level == 0 ? state.root : state.open[level - 1];
      --level;
    } else {
      id = tree_.EnterChild(reduced_nodes_[from.parent], from.routine);
    }
    reduced_nodes_.push_back(id);
    CallNode& node = tree_.node(id);
    if (from.calls != 0 && node.calls == 0) BecomeEvent(node);
    node.calls += from.calls;
    node.calls_jitted += from.calls_jitted;
    int64_t& time = node.waits_for_user ? node.off : node.base;
    time = WrapAdd(time, from.base);
    if (from.min_base > from.max_base) continue;
    if (node.waits_for_user) {
      tree_.AddExtremes(id, 0, 0);
    } else {
      tree_.AddExtremes(id, from.min_base, from.max_base);
    }
  }
}

// Ends the earlier activations that the run ended, and opens those that it left open.
void TreeBuilder::EndReduced(ThreadState& state, const ReducedCalls& calls) {
  const auto add_time = [&](NodeId id, int64_t base) {
    int64_t& open = state.open_base.back();
    if (!tree_.node(id).waits_for_user) open = WrapAdd(open, base);
  };
  for (size_t i = 0; i < calls.outside.size(); ++i) {
    if (i > 0) CloseInnermost(state);
    add_time(Current(state), calls.nodes[calls.outside[i]].base);
  }
  for (const ReducedCalls::Open& open : calls.open) {
    const NodeId id = reduced_nodes_[open.node];
    state.open.push_back(id);
    state.open_base.push_back(0);
    add_time(id, open.base);
  }
}

void TreeBuilder::OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                                 absl::FunctionRef<void(RecordVisitor&)> one_by_one) {
  ThreadState& state = StateOf({calls.first_time, thread});
  if (!Fits(state, calls)) return one_by_one(*this);
  last_time_ = std::max(last_time_, calls.last_time);
  position_room_ += kStepsPerRecord * static_cast<size_t>(calls.calls());
  AdvanceClock(state, calls.first_time);
  AddReducedNodes(state, calls);
  EndReduced(state, calls);
  state.clock = calls.last_time;
}

}  // namespace jtrace::postproc
