#include "agent/probes/group_forest.h"

#include <algorithm>

#include "agent/hot/layout.h"

namespace jtrace {

uint32_t GroupForest::AddRoot() {
  const auto index = static_cast<uint32_t>(nodes_.size());
  const auto group = static_cast<uint32_t>(roots_.size());
  nodes_.push_back({.group = group});
  roots_.push_back(index);
  members_.push_back(0);
  changed_.emplace_back();
  return index;
}

uint32_t GroupForest::Child(uint32_t parent, uint32_t routine, uint32_t& last_number) {
  const auto next = static_cast<uint32_t>(nodes_.size());
  if (next >= max_nodes_ && routine != hot::kPrunedRoutine &&
      !children_.contains({parent, routine})) {
    return PrunedAbove(parent, last_number);
  }
  const auto [entry, inserted] = children_.try_emplace({parent, routine}, next);
  if (inserted) {
    nodes_.push_back({.parent = parent,
                      .routine = routine,
                      .number = ++last_number,
                      .group = nodes_[parent].group,
                      .is_new = true});
    MarkChanged(next);
  }
  return entry->second;
}

uint32_t GroupForest::PrunedAbove(uint32_t parent, uint32_t& last_number) {
  uint32_t at = parent;
  // A quarter more for [pruned] nodes; then those further up have to do.
  if (nodes_.size() >= max_nodes_ + max_nodes_ / 4) {
    while (nodes_[at].routine != 0 && nodes_[at].routine != hot::kPrunedRoutine &&
           !children_.contains({at, hot::kPrunedRoutine})) {
      at = nodes_[at].parent;
    }
  }
  if (nodes_[at].routine == hot::kPrunedRoutine) return at;
  return Child(at, hot::kPrunedRoutine, last_number);
}

void GroupForest::Add(uint32_t index, uint64_t calls, uint64_t jitted, const NodeValues& values) {
  Node& node = nodes_[index];
  node.values.least = node.calls == 0 ? values.least : std::min(node.values.least, values.least);
  node.values.greatest = std::max(node.values.greatest, values.greatest);
  node.values.AddTotals(values);
  node.calls += calls;
  node.jitted += jitted;
  MarkChanged(index);
}

uint32_t GroupForest::NumberForSample(uint32_t index) {
  if (nodes_[index].is_new) MarkChanged(index);
  return nodes_[index].number;
}

void GroupForest::BeginFile() {
  for (Node& node : nodes_) {
    node.calls = node.jitted = 0;
    node.values = {};
    node.is_new = node.routine != 0;
    node.changed = false;
  }
  for (std::vector<uint32_t>& changed : changed_) changed.clear();
}

// Nodes above it must be defined before it is.
void GroupForest::MarkChanged(uint32_t index) {
  for (uint32_t at = index; !nodes_[at].changed; at = nodes_[at].parent) {
    if (at != index && !nodes_[at].is_new) break;
    nodes_[at].changed = true;
    changed_[nodes_[at].group].push_back(at);
  }
}

void GroupForest::ForEachChanged(
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

uint64_t GroupForest::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) +
         children_.capacity() * (sizeof(decltype(children_)::value_type) + 1);
}

}  // namespace jtrace
