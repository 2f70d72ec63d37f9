#include "postproc/calltree/call_tree.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {

NodeId CallTree::Append(const CallNode& node) {
  nodes_.push_back(node);
  return NodeId(static_cast<uint32_t>(nodes_.size()));
}

NodeId CallTree::AddRoot(ThreadId thread) {
  CallNode root;
  root.thread = thread;
  root.origin = NodeOrigin::kThread;
  root.calls = 1;
  const NodeId id = Append(root);
  roots_.push_back(id);
  return id;
}

NodeId CallTree::Child(NodeId parent, RoutineId routine, ChildSpace space, CallPlace place) {
  const uint64_t key = uint64_t{parent.value} << 32 | uint64_t{routine.value} << 1 |
                       (space == ChildSpace::kApart ? 1 : 0);
  NodeId& known = place == kNoCallPlace ? children_[key] : placed_children_[std::pair(key, place)];
  if (known) return known;

  CallNode child;
  child.parent = parent;
  child.routine = routine;
  child.space = space;
  child.place = place;
  child.level = node(parent).level + 1;
  const NodeId id = Append(child);
  known = id;

  CallNode& above = node(parent);
  if (above.last_child) {
    node(above.last_child).next_sibling = id;
  } else {
    above.first_child = id;
  }
  above.last_child = id;

  if (instances_.size() <= routine.value) instances_.resize(routine.value + size_t{1});
  Instances& instances = instances_[routine.value];
  if (instances.last) {
    node(instances.last).next_instance = id;
  } else {
    instances.first = id;
  }
  instances.last = id;
  return id;
}

NodeId CallTree::FollowRecent(NodeId parent, NodeId recent, NodeId child) {
  if (recent) node(recent).follower = child;
  return node(parent).recent_child = child;
}

NodeId CallTree::first_instance(RoutineId routine) const {
  return routine.value < instances_.size() ? instances_[routine.value].first : NodeId();
}

void CallTree::AddCounts(NodeId id, const CallNode& from) {
  CallNode& to = node(id);
  if (from.origin == NodeOrigin::kEvent) to.origin = NodeOrigin::kEvent;
  to.calls = WrapAdd(to.calls, from.calls);
  to.calls_jitted = WrapAdd(to.calls_jitted, from.calls_jitted);
  to.base = WrapAdd(to.base, from.base);
  to.off = WrapAdd(to.off, from.off);
  to.base_ticks = WrapAdd(to.base_ticks, from.base_ticks);
  to.samples = WrapAdd(to.samples, from.samples);
  to.outside_calls = WrapAdd(to.outside_calls, from.outside_calls);
  to.outside_time = WrapAdd(to.outside_time, from.outside_time);
  to.has_rough_extremes |= from.has_rough_extremes;
}

void CallTree::AddMetric(NodeId id, MetricId metric, int64_t delta) {
  int64_t& value = metrics_[{metric, id}];
  value = WrapAdd(value, delta);
}

std::vector<int64_t> CallTree::MetricBase(MetricId metric) const {
  std::vector<int64_t> base(nodes_.size());
  for (const auto& [key, value] : metrics_) {
    if (key.first == metric) base[key.second.value - 1] = value;
  }
  return base;
}

void CallTree::AccumulateUpwards(std::vector<int64_t>& values) const {
  for (size_t i = nodes_.size(); i-- > 0;) {
    const NodeId parent = nodes_[i].parent;
    if (parent) values[parent.value - 1] = WrapAdd(values[parent.value - 1], values[i]);
  }
}

void CallTree::ForgetTimes(absl::FunctionRef<bool(ThreadId thread)> is_untimed) {
  std::vector<bool> untimed(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    CallNode& it = nodes_[i];
    untimed[i] = it.parent ? untimed[it.parent.value - 1] : is_untimed(it.thread);
    if (untimed[i]) it.base = it.off = it.min_base = it.max_base = 0;
  }
}

std::vector<NodeTotals> CallTree::ComputeTotals() const {
  std::vector<NodeTotals> totals(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    const CallNode& it = nodes_[i];
    totals[i].cum = WrapAdd(totals[i].cum, it.base);
    totals[i].off = WrapAdd(totals[i].off, it.off);
    totals[i].cum_ticks = WrapAdd(totals[i].cum_ticks, it.base_ticks);
    if (!it.parent) continue;
    NodeTotals& above = totals[it.parent.value - 1];
    above.cum = WrapAdd(above.cum, totals[i].cum);
    above.off = WrapAdd(above.off, totals[i].off);
    above.cum_ticks = WrapAdd(above.cum_ticks, totals[i].cum_ticks);
  }
  // Recursion levels: depth first, with the number of open activations of each routine.
  std::vector<uint32_t> open(instances_.size());
  for (const NodeId root : roots_) {
    NodeId at = root;
    bool entering = true;
    while (at) {
      const CallNode& it = node(at);
      if (entering && it.routine) {
        totals[at.value - 1].recursion_level = ++open[it.routine.value];
      }
      if (entering && it.first_child) {
        at = it.first_child;
        continue;
      }
      if (it.routine) --open[it.routine.value];
      entering = static_cast<bool>(it.next_sibling);
      at = it.next_sibling ? it.next_sibling : it.parent;
    }
  }
  return totals;
}

}  // namespace jtrace::postproc
