#include "agent/probes/tree_collector.h"

namespace jtrace {

using hot::At;
using hot::Node;
using hot::ReadRelaxed;
using hot::Ref;

void TreeCollector::Collect(absl::FunctionRef<void(const TreeUpdate&)> visit) {
  states_.ForEach([&](hot::ThreadState& state, bool ended) {
    updates_.clear();
    CollectTree(state);
    if (ended || !updates_.empty()) visit({state.tid, ended, updates_});
  });
}

void TreeCollector::CollectTree(hot::ThreadState& state) {
  Ref ref = state.root;
  while ((ref = hot::ReadAcquire(At<Node>(arena_, ref)->next)) != 0) {
    CollectNode(*At<Node>(arena_, ref));
  }
}

void TreeCollector::CollectNode(Node& node) {
  // The jitted count first: it can only be behind the sum then.
  const uint64_t jitted = ReadRelaxed(node.jitted);
  const uint64_t calls = jitted + ReadRelaxed(node.interpreted);
  const bool is_new = node.defined == 0;
  if (!is_new && calls == node.reported) return;
  const Node& parent = *At<Node>(arena_, node.parent);
  updates_.push_back({NumberOf(node), parent.number, node.routine, is_new, calls, jitted});
  node.defined = 1;
  nodes_reported_ += is_new;
  total_calls_ += calls - node.reported;
  node.reported = calls;
}

uint32_t TreeCollector::NumberOf(Node& node) {
  if (node.number == 0) node.number = ++last_number_;
  return node.number;
}

uint32_t TreeCollector::TraceNode(uint64_t raw_node) {
  const uint64_t offset = raw_node << hot::kGranuleShift;
  if (offset < hot::kFirstChunk || offset >= ReadRelaxed(arena_->next)) return 0;
  Node& node = *At<Node>(arena_, static_cast<Ref>(raw_node));
  // Roots have no routine and no number.
  return node.routine == 0 ? 0 : NumberOf(node);
}

uint64_t TreeCollector::lost_calls() const {
  return ReadRelaxed(arena_->lost_node.interpreted) + ReadRelaxed(arena_->lost_node.jitted);
}

}  // namespace jtrace
