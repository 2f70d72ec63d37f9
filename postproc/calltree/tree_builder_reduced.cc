// Adds runs of calls that were summed up elsewhere to the tree.
#include "postproc/calltree/tree_builder.h"

namespace jtrace::postproc {

bool TreeBuilder::Fits(const ThreadState& state, const ReducedCalls& calls) const {
  const size_t ended = calls.outside.size() - 1;
  if (ended > state.open.size()) return false;
  for (size_t i = 0; i < ended; ++i) {
    const NodeId open = state.open[state.open.size() - 1 - i];
    if (tree_.routine(open) != calls.nodes[calls.outside[i]].routine) return false;
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
    if (from.calls != 0 && tree_.calls(id) == 0) BecomeEvent(id);
    tree_.AddCalls(id, from.calls, from.calls_jitted);
    const bool waits = tree_.waits_for_user(id);
    if (waits) {
      tree_.AddOff(id, from.base);
    } else {
      tree_.AddBase(id, from.base);
    }
    if (from.min_base > from.max_base) continue;
    tree_.AddExtremes(id, waits ? 0 : from.min_base, waits ? 0 : from.max_base);
  }
}

// Ends the earlier activations that the run ended, and opens those that it left open.
void TreeBuilder::EndReduced(ThreadState& state, const ReducedCalls& calls) {
  const auto add_time = [&](NodeId id, int64_t base) {
    int64_t& open = state.open_base.back();
    if (!tree_.waits_for_user(id)) open = WrapAdd(open, base);
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
