#include "agent/metrics/tree_snapshot.h"

#include <algorithm>

#include "agent/calls/trees/node_state.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {
namespace {

bool IsAllZero(const PathValues& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

}  // namespace

uint32_t TreeSnapshot::Child(uint32_t parent, uint32_t routine) {
  if (parent == kNoNode || is_full_) return kNoNode;
  const auto found = children_.find({parent, routine});
  if (found != children_.end()) return found->second;
  if (nodes_.size() >= max_nodes_) {
    BecomeFull();
    return kNoNode;
  }
  const auto index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, routine});
  children_.emplace(std::pair(parent, routine), index);
  return index;
}

void TreeSnapshot::BecomeFull() {
  is_full_ = true;
  nodes_ = {Node{}};
  values_ = {};
  children_ = {};
}

void TreeSnapshot::AddValues(uint32_t index, const PathValues& values, int64_t sign) {
  if (index == kNoNode || is_full_) return;
  for (size_t column = 0; column < kPathColumns; ++column) {
    if (values[column] == 0) continue;
    std::vector<int64_t>& of_nodes = values_[column];
    if (of_nodes.size() <= index) of_nodes.resize(index + 1);
    of_nodes[index] += sign * values[column];
  }
}

PathValues TreeSnapshot::ValuesOf(size_t index) const {
  PathValues values;
  for (size_t column = 0; column < kPathColumns; ++column) values[column] = ValueOf(index, column);
  return values;
}

void TreeSnapshot::Add(const signal_safe::Arena* arena, const signal_safe::ThreadState& state,
                       int64_t sign, ReadNode read) {
  if (is_full_) return;
  absl::flat_hash_map<signal_safe::Ref, uint32_t> indexes = {{state.root, 0}};
  AddValues(0, read(*signal_safe::At<signal_safe::Node>(arena, state.root)), sign);
  signal_safe::Ref ref = state.root;
  while ((ref = signal_safe::ReadAcquire(signal_safe::At<signal_safe::Node>(arena, ref)->next)) !=
         0) {
    const signal_safe::Node& node = *signal_safe::At<signal_safe::Node>(arena, ref);
    if (is_full_) return;
    // A dropped node stays in the list if it is the last one.
    if (calls::IsDropped(node)) continue;
    const auto parent = indexes.find(node.parent);
    const uint32_t index = parent == indexes.end()
                               ? IndexOf(arena, node)
                               : Child(parent->second, signal_safe::IdOf(node.routine));
    indexes.emplace(ref, index);
    if (const PathValues values = read(node); !IsAllZero(values)) AddValues(index, values, sign);
  }
}

void TreeSnapshot::AddNode(const signal_safe::Arena* arena, const signal_safe::Node& node,
                           int64_t sign, ReadNode read) {
  if (is_full_) return;
  if (const PathValues values = read(node); !IsAllZero(values)) {
    AddValues(IndexOf(arena, node), values, sign);
  }
}

uint32_t TreeSnapshot::IndexOf(const signal_safe::Arena* arena, const signal_safe::Node& node) {
  std::vector<uint32_t> path;
  signal_safe::RootPath at(arena, node);
  do {
    if (!at.IsAtRoot()) path.push_back(signal_safe::IdOf(at->routine));
  } while (at.Up());
  uint32_t index = 0;
  for (; !path.empty(); path.pop_back()) index = Child(index, path.back());
  return index;
}

void TreeSnapshot::Add(const TreeSnapshot& other) {
  if (other.is_full_) BecomeFull();
  if (is_full_) return;
  std::vector<uint32_t> indexes(other.nodes_.size());
  AddValues(0, other.ValuesOf(0), 1);
  for (size_t i = 1; i < other.nodes_.size(); ++i) {
    const Node& node = other.nodes_[i];
    indexes[i] = Child(indexes[node.parent], node.routine);
    AddValues(indexes[i], other.ValuesOf(i), 1);
  }
}

void TreeSnapshot::Convert(size_t column, absl::FunctionRef<int64_t(int64_t)> convert) {
  for (int64_t& value : values_[column]) value = convert(value);
}

TreeSnapshot TreeSnapshot::Below(const Routines& roots) const {
  TreeSnapshot below(max_nodes_);
  below.is_full_ = is_full_;
  std::vector<uint32_t> indexes(nodes_.size());  // 0: above the roots
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (indexes[node.parent] == 0 && !roots.contains(node.routine)) continue;
    indexes[i] = below.Child(indexes[node.parent], node.routine);
    below.AddValues(indexes[i], ValuesOf(i), 1);
  }
  return below;
}

MethodTotals TreeSnapshot::Totals(const Routines& methods, size_t column) const {
  std::vector<int64_t> cum(nodes_.size());
  for (size_t i = nodes_.size() - 1; i > 0; --i) {
    cum[i] += ValueOf(i, column);
    cum[nodes_[i].parent] += cum[i];
  }
  MethodTotals totals;
  std::vector<bool> is_inside(nodes_.size());  // at or below one of the methods
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool is_nested = is_inside[node.parent];
    const bool is_method = methods.contains(node.routine);
    is_inside[i] = is_nested || is_method;
    if (!is_method) continue;
    totals.calls += ValueOf(i, kCallsColumn);
    totals.base += ValueOf(i, column);
    if (is_nested) continue;
    totals.outermost_calls += ValueOf(i, kCallsColumn);
    totals.cum += cum[i];
  }
  return totals;
}

std::vector<PathShare> TreeSnapshot::Top(size_t column, size_t count,
                                         const Routines* methods) const {
  std::vector<uint32_t> best;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (ValueOf(i, column) <= 0) continue;
    if (methods == nullptr || methods->contains(nodes_[i].routine)) best.push_back(i);
  }
  std::stable_sort(best.begin(), best.end(),
                   [&](uint32_t a, uint32_t b) { return ValueOf(a, column) > ValueOf(b, column); });
  best.resize(std::min(best.size(), count));
  std::vector<PathShare> shares;
  for (const uint32_t index : best) {
    PathShare& share = shares.emplace_back(PathShare{ValueOf(index, column), {}});
    for (uint32_t at = index; at != 0; at = nodes_[at].parent) {
      share.routines.push_back(nodes_[at].routine);
    }
    std::reverse(share.routines.begin(), share.routines.end());
  }
  return shares;
}

}  // namespace jtrace::metrics
