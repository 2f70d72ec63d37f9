#include "postproc/calltree/call_tree.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {
namespace {

// A node with more children than this finds them by a hash table.
constexpr int kMostScanned = 8;

}  // namespace

NodeId CallTree::Append(const Links& links, uint8_t flags) {
  links_.push_back(links);
  flags_.push_back(flags);
  return NodeId(static_cast<uint32_t>(links_.size()));
}

NodeId CallTree::AddRoot(ThreadId thread) {
  const NodeId id = Append({}, static_cast<uint8_t>(NodeOrigin::kThread));
  SetThread(id, thread);
  SetCalls(id, 1);
  roots_.push_back(id);
  return id;
}

void CallTree::IndexChildren(NodeId parent) {
  for (NodeId at = links_[parent.value - 1].first_child; at;) {
    const Links& links = links_[at.value - 1];
    const bool is_apart = (flags_[at.value - 1] & kIsApart) != 0;
    children_[KeyOf(parent, links.routine, is_apart ? ChildSpace::kApart : ChildSpace::kMerged,
                    places_[at.value - 1])] = at;
    at = links.next_sibling;
  }
  flags_[parent.value - 1] |= kIsIndexed;
}

// None: there is no such child yet.
NodeId CallTree::FindChild(NodeId parent, RoutineId routine, ChildSpace space, CallSite place) {
  if ((flags_[parent.value - 1] & kIsIndexed) == 0) {
    int scanned = 0;
    NodeId at = links_[parent.value - 1].first_child;
    for (; at && scanned < kMostScanned; ++scanned) {
      const size_t i = at.value - 1;
      const bool is_apart = (flags_[i] & kIsApart) != 0;
      if (links_[i].routine == routine && is_apart == (space == ChildSpace::kApart) &&
          places_[i] == place) {
        return at;
      }
      at = links_[i].next_sibling;
    }
    if (scanned < kMostScanned) return NodeId();
    IndexChildren(parent);
  }
  const auto found = children_.find(KeyOf(parent, routine, space, place));
  return found == children_.end() ? NodeId() : found->second;
}

NodeId CallTree::Child(NodeId parent, RoutineId routine, ChildSpace space, CallSite place) {
  if (const NodeId known = FindChild(parent, routine, space, place); known) return known;
  Links child;
  child.parent = parent;
  child.routine = routine;
  child.level = links_[parent.value - 1].level + 1;
  const NodeId id =
      Append(child, static_cast<uint8_t>(static_cast<uint8_t>(NodeOrigin::kSample) |
                                         (space == ChildSpace::kApart ? kIsApart : 0)));
  if (place != kNoCallSite) places_.At(id.value - 1) = place;
  most_routine_ = std::max(most_routine_, routine.value);

  Links& above = links_[parent.value - 1];
  if (above.last_child) {
    links_[above.last_child.value - 1].next_sibling = id;
  } else {
    above.first_child = id;
  }
  above.last_child = id;
  if ((flags_[parent.value - 1] & kIsIndexed) != 0) {
    children_[KeyOf(parent, routine, space, place)] = id;
  }
  return id;
}

NodeId CallTree::FollowRecent(NodeId parent, NodeId recent, NodeId child) {
  if (recent) guesses_.At(recent.value - 1).follower = child;
  return guesses_.At(parent.value - 1).recent_child = child;
}

void CallTree::FindInstances() const {
  first_instances_.resize(most_routine_ + size_t{1});
  last_instances_.resize(most_routine_ + size_t{1});
  next_instances_.reserve(links_.size());
  for (size_t i = next_instances_.size(); i < links_.size(); ++i) {
    const NodeId id(static_cast<uint32_t>(i + 1));
    next_instances_.emplace_back();
    const RoutineId routine = links_[i].routine;
    if (!routine) continue;
    const NodeId last = std::exchange(last_instances_[routine.value], id);
    (last ? next_instances_[last.value - 1] : first_instances_[routine.value]) = id;
  }
}

NodeId CallTree::first_instance(RoutineId routine) const {
  if (next_instances_.size() < links_.size()) FindInstances();
  return routine.value < first_instances_.size() ? first_instances_[routine.value] : NodeId();
}

void CallTree::AddCounts(NodeId id, const CallNode& from) {
  if (from.origin == NodeOrigin::kEvent) SetOriginEvent(id);
  AddCalls(id, from.calls, from.calls_jitted);
  AddBase(id, from.base);
  AddOff(id, from.off);
  AddTicks(id, from.base_ticks);
  AddSamples(id, from.samples);
  AddOutside(id, from.outside_calls, from.outside_time);
  if (from.has_rough_extremes) MarkRough(id);
}

void CallTree::AddMetric(NodeId id, MetricId metric, int64_t delta) {
  int64_t& value = metrics_[{metric, id}];
  value = WrapAdd(value, delta);
}

PrefixColumn<int64_t> CallTree::MetricBase(MetricId metric) const {
  PrefixColumn<int64_t> base;
  for (const auto& [key, value] : metrics_) {
    if (key.first == metric) base.At(key.second.value - 1) = value;
  }
  return base;
}

void CallTree::AccumulateUpwards(std::vector<int64_t>& values) const {
  for (size_t i = values.size(); i-- > 0;) {
    const NodeId parent = links_[i].parent;
    if (parent) AddTo(values[parent.value - 1], values[i]);
  }
}

void CallTree::ForgetTimes(absl::FunctionRef<bool(ThreadId thread)> is_untimed) {
  const size_t end = std::max(times_.size(), off_.size());
  std::vector<bool> untimed(end);
  for (size_t i = 0; i < end; ++i) {
    const Links& links = links_[i];
    untimed[i] = links.parent ? untimed[links.parent.value - 1]
                              : is_untimed(ThreadId(links.next_sibling.value));
    if (!untimed[i]) continue;
    if (i < times_.size()) times_.At(i) = {};
    if (i < off_.size()) off_.At(i) = 0;
  }
}

// Depth first, with the number of open activations of each routine.
std::vector<uint32_t> CallTree::RecursionLevels() const {
  std::vector<uint32_t> levels(links_.size(), 1);
  std::vector<uint32_t> open(most_routine_ + size_t{1});
  for (const NodeId root : roots_) {
    NodeId at = root;
    bool entering = true;
    while (at) {
      const Links& links = links_[at.value - 1];
      if (entering && links.routine) levels[at.value - 1] = ++open[links.routine.value];
      if (entering && links.first_child) {
        at = links.first_child;
        continue;
      }
      if (links.routine) --open[links.routine.value];
      const NodeId next = links.parent ? links.next_sibling : NodeId();
      entering = static_cast<bool>(next);
      at = next ? next : links.parent;
    }
  }
  return levels;
}

TreeTotals CallTree::ComputeTotals() const {
  TreeTotals totals;
  std::vector<int64_t>& cum = totals.cum_.values();
  for (const Times& it : times_.values()) cum.push_back(it.base);
  AccumulateUpwards(cum);
  totals.off_ = off_;
  AccumulateUpwards(totals.off_.values());
  std::vector<int64_t>& ticks = totals.cum_ticks_.values();
  for (const Ticks& it : ticks_.values()) ticks.push_back(it.base);
  AccumulateUpwards(ticks);
  totals.recursion_levels_ = RecursionLevels();
  return totals;
}

}  // namespace jtrace::postproc
