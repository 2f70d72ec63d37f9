#include "agent/metrics/tree_snapshot.h"

#include <algorithm>

#include "agent/hot/climb.h"
#include "agent/probes/node_state.h"

namespace jtrace::metrics {
namespace {

bool IsAllZero(const PathValues& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

}  // namespace

uint32_t TreeSnapshot::Child(uint32_t parent, uint32_t routine) {
  if (parent == kNowhere || is_full_) return kNowhere;
  const auto found = children_.find({parent, routine});
  if (found != children_.end()) return found->second;
  if (nodes_.size() >= max_nodes_) {
    BecomeFull();
    return kNowhere;
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
  if (index == kNowhere || is_full_) return;
  for (size_t place = 0; place < kPathPlaces; ++place) {
    if (values[place] == 0) continue;
    std::vector<int64_t>& column = values_[place];
    if (column.size() <= index) column.resize(index + 1);
    column[index] += sign * values[place];
  }
}

PathValues TreeSnapshot::ValuesOf(size_t index) const {
  PathValues values;
  for (size_t place = 0; place < kPathPlaces; ++place) values[place] = ValueOf(index, place);
  return values;
}

void TreeSnapshot::Add(const hot::Arena* arena, const hot::ThreadState& state, int64_t sign,
                       ReadNode read) {
  if (is_full_) return;
  absl::flat_hash_map<hot::Ref, uint32_t> places = {{state.root, 0}};
  AddValues(0, read(*hot::At<hot::Node>(arena, state.root)), sign);
  hot::Ref ref = state.root;
  while ((ref = hot::ReadAcquire(hot::At<hot::Node>(arena, ref)->next)) != 0) {
    const hot::Node& node = *hot::At<hot::Node>(arena, ref);
    if (is_full_) return;
    // A dropped node stays in the list if it is the last one.
    if (IsDropped(node)) continue;
    const auto parent = places.find(node.parent);
    const uint32_t place = parent == places.end() ? PlaceOf(arena, node)
                                                  : Child(parent->second, hot::IdOf(node.routine));
    places.emplace(ref, place);
    if (const PathValues values = read(node); !IsAllZero(values)) AddValues(place, values, sign);
  }
}

void TreeSnapshot::AddNode(const hot::Arena* arena, const hot::Node& node, int64_t sign,
                           ReadNode read) {
  if (is_full_) return;
  if (const PathValues values = read(node); !IsAllZero(values)) {
    AddValues(PlaceOf(arena, node), values, sign);
  }
}

uint32_t TreeSnapshot::PlaceOf(const hot::Arena* arena, const hot::Node& node) {
  std::vector<uint32_t> path;
  hot::Climb at(arena, node);
  do {
    if (!at.IsAtRoot()) path.push_back(hot::IdOf(at->routine));
  } while (at.Up());
  uint32_t place = 0;
  for (; !path.empty(); path.pop_back()) place = Child(place, path.back());
  return place;
}

void TreeSnapshot::Add(const TreeSnapshot& other) {
  if (other.is_full_) BecomeFull();
  if (is_full_) return;
  std::vector<uint32_t> places(other.nodes_.size());
  AddValues(0, other.ValuesOf(0), 1);
  for (size_t i = 1; i < other.nodes_.size(); ++i) {
    const Node& node = other.nodes_[i];
    places[i] = Child(places[node.parent], node.routine);
    AddValues(places[i], other.ValuesOf(i), 1);
  }
}

void TreeSnapshot::Convert(size_t place, absl::FunctionRef<int64_t(int64_t)> convert) {
  for (int64_t& value : values_[place]) value = convert(value);
}

TreeSnapshot TreeSnapshot::Below(const Routines& roots) const {
  TreeSnapshot below(max_nodes_);
  below.is_full_ = is_full_;
  std::vector<uint32_t> places(nodes_.size());  // 0: above the roots
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (places[node.parent] == 0 && !roots.contains(node.routine)) continue;
    places[i] = below.Child(places[node.parent], node.routine);
    below.AddValues(places[i], ValuesOf(i), 1);
  }
  return below;
}

MethodTotals TreeSnapshot::Totals(const Routines& methods, size_t place) const {
  std::vector<int64_t> cum(nodes_.size());
  for (size_t i = nodes_.size() - 1; i > 0; --i) {
    cum[i] += ValueOf(i, place);
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
    totals.calls += ValueOf(i, kCallsPlace);
    totals.base += ValueOf(i, place);
    if (is_nested) continue;
    totals.outermost_calls += ValueOf(i, kCallsPlace);
    totals.cum += cum[i];
  }
  return totals;
}

std::vector<PathShare> TreeSnapshot::Top(size_t place, size_t count,
                                         const Routines* methods) const {
  std::vector<uint32_t> best;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (ValueOf(i, place) <= 0) continue;
    if (methods == nullptr || methods->contains(nodes_[i].routine)) best.push_back(i);
  }
  std::stable_sort(best.begin(), best.end(),
                   [&](uint32_t a, uint32_t b) { return ValueOf(a, place) > ValueOf(b, place); });
  best.resize(std::min(best.size(), count));
  std::vector<PathShare> shares;
  for (const uint32_t index : best) {
    PathShare& share = shares.emplace_back(PathShare{ValueOf(index, place), {}});
    for (uint32_t at = index; at != 0; at = nodes_[at].parent) {
      share.routines.push_back(nodes_[at].routine);
    }
    std::reverse(share.routines.begin(), share.routines.end());
  }
  return shares;
}

}  // namespace jtrace::metrics
