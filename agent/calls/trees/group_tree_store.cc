#include "agent/calls/trees/group_tree_store.h"

#include <algorithm>

#include "agent/signal_safe/routine_id.h"

namespace jtrace::calls {

uint32_t GroupTreeStore::AddRoot() {
  const auto index = static_cast<uint32_t>(nodes_.size());
  const auto group = static_cast<uint32_t>(roots_.size());
  nodes_.push_back({.group = group});
  roots_.push_back(index);
  members_.push_back(0);
  changed_.emplace_back();
  return index;
}

uint32_t GroupTreeStore::Child(uint32_t parent, uint32_t routine, uint32_t& last_number) {
  const uint32_t known = Find(parent, routine);
  if (known != 0) return known;
  if (nodes_.size() < max_nodes_ || routine == signal_safe::kPrunedRoutine) {
    return Make(parent, routine, last_number);
  }
  return PrunedChild(parent, signal_safe::IdOf(routine), last_number);
}

uint32_t GroupTreeStore::Find(uint32_t parent, uint32_t routine) const {
  const auto found = children_.find({parent, routine});
  return found == children_.end() ? 0 : found->second;
}

uint32_t GroupTreeStore::Make(uint32_t parent, uint32_t routine, uint32_t& last_number) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  children_.emplace(std::pair(parent, routine), index);
  nodes_.push_back({.parent = parent,
                    .routine = routine,
                    .number = ++last_number,
                    .group = nodes_[parent].group,
                    .is_new = true});
  MarkChanged(index);
  return index;
}

uint32_t GroupTreeStore::PrunedChild(uint32_t parent, uint32_t routine, uint32_t& last_number) {
  const auto child_of = [&](uint32_t pruned) {
    const uint32_t known = Find(pruned, routine);
    return known != 0 ? known : Make(pruned, routine, last_number);
  };
  // Up to a quarter more nodes are sums near their callers; after that, sums further up are used.
  const bool has_room = nodes_.size() < max_nodes_ + max_nodes_ / 4;
  uint32_t at = parent;
  for (; nodes_[at].routine != 0; at = nodes_[at].parent) {
    if (nodes_[at].routine == signal_safe::kPrunedRoutine) {
      if (has_room || Find(at, routine) != 0) return child_of(at);
      continue;
    }
    // The node is a sum itself: calls from it are counted in its siblings.
    if (nodes_[nodes_[at].parent].routine == signal_safe::kPrunedRoutine) continue;
    const uint32_t pruned = Find(at, signal_safe::kPrunedRoutine);
    if (has_room) {
      return child_of(pruned != 0 ? pruned : Make(at, signal_safe::kPrunedRoutine, last_number));
    }
    if (pruned != 0 && Find(pruned, routine) != 0) return child_of(pruned);
  }
  // Below a root there are at most as many sums as routines, so no limit is needed.
  const uint32_t pruned = Find(at, signal_safe::kPrunedRoutine);
  return child_of(pruned != 0 ? pruned : Make(at, signal_safe::kPrunedRoutine, last_number));
}

void GroupTreeStore::Add(uint32_t index, uint64_t calls, uint64_t jitted,
                         const NodeValues& values) {
  Node& node = nodes_[index];
  node.values.least = node.calls == 0 ? values.least : std::min(node.values.least, values.least);
  node.values.greatest = std::max(node.values.greatest, values.greatest);
  node.values.AddTotals(values);
  node.calls += calls;
  node.jitted += jitted;
  MarkChanged(index);
}

uint32_t GroupTreeStore::NumberForSample(uint32_t index) {
  if (nodes_[index].is_new) MarkChanged(index);
  return nodes_[index].number;
}

void GroupTreeStore::BeginFile() {
  for (Node& node : nodes_) {
    node.calls = node.jitted = 0;
    node.values = {};
    node.is_new = node.routine != 0;
    node.changed = false;
  }
  for (std::vector<uint32_t>& changed : changed_) changed.clear();
}

// Marks new nodes above it as well, because they must be defined before it.
void GroupTreeStore::MarkChanged(uint32_t index) {
  for (uint32_t at = index; !nodes_[at].changed; at = nodes_[at].parent) {
    if (at != index && !nodes_[at].is_new) break;
    nodes_[at].changed = true;
    changed_[nodes_[at].group].push_back(at);
  }
}

void GroupTreeStore::ForEachChanged(
    absl::FunctionRef<void(uint32_t, const std::vector<uint32_t>&)> visit) {
  for (uint32_t group = 0; group < roots_.size(); ++group) {
    std::vector<uint32_t>& changed = changed_[group];
    if (changed.empty()) continue;
    std::sort(changed.begin(), changed.end());
    visit(roots_[group], changed);
    for (const uint32_t index : changed) nodes_[index].is_new = nodes_[index].changed = false;
    changed.clear();
  }
}

uint64_t GroupTreeStore::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) +
         children_.capacity() * (sizeof(decltype(children_)::value_type) + 1);
}

}  // namespace jtrace::calls
