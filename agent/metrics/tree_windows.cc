#include "agent/metrics/tree_windows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/trees/node_state.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/position.h"

namespace jtrace::metrics {
namespace {

// Returns the metrics in their columns, which follow that of the calls.
PathValues AtColumns(const calls::MetricValues& metrics) {
  static_assert(kCpuColumn == 1 + std::tuple_size_v<calls::MetricValues>);
  PathValues values = {};
  for (size_t i = 0; i < metrics.size(); ++i) values[1 + i] = static_cast<int64_t>(metrics[i]);
  return values;
}

bool IsAllZero(const PathValues& values) {
  return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; });
}

}  // namespace

TreeWindows::TreeWindows(calls::TreeCollector& trees, const ThreadFamilies& families)
    : trees_(trees), families_(families) {
  trees_.Watch(this);
  trees_.ForEachThread([this](const signal_safe::ThreadState& state) {
    TreeSnapshot before;
    AddTree(state, -1, before);
    if (!before.empty()) corrections_.emplace(state.tid, std::move(before));
  });
}

TreeWindows::~TreeWindows() { trees_.Watch(nullptr); }

absl::StatusOr<TreeSnapshot> TreeWindows::SinceStart(std::optional<uint64_t> java_tid) {
  TreeSnapshot sum = java_tid.has_value() ? TreeSnapshot() : ended_trees_;
  bool is_known = !java_tid.has_value();
  trees_.ForEachThread([&](const signal_safe::ThreadState& state) {
    if (java_tid.has_value() && state.tid != *java_tid) return;
    is_known = true;
    AddTree(state, 1, sum);
    if (const auto found = corrections_.find(state.tid); found != corrections_.end()) {
      sum.Add(found->second);
    }
  });
  if (!is_known) {
    return absl::NotFoundError(absl::StrCat(
        "thread ", *java_tid,
        " has called no method with probes, or has ended; ask for all threads instead"));
  }
  return Whole(std::move(sum));
}

void TreeWindows::Open(uint64_t window, Scope scope, uint64_t java_tid) {
  Window opened = {.scope = scope, .java_tid = java_tid};
  AddLiveTrees(window, -1, opened);
  windows_.insert_or_assign(window, std::move(opened));
}

absl::StatusOr<TreeSnapshot> TreeWindows::Counted(uint64_t window, const Routines* roots) {
  const auto found = windows_.find(window);
  if (found == windows_.end()) {
    return absl::NotFoundError("this window is closed, or its recording has ended");
  }
  Window now = found->second;
  AddLiveTrees(window, 1, now);
  TreeSnapshot sum = roots == nullptr ? std::move(now.own) : now.own.Below(*roots);
  sum.Add(now.others);
  return Whole(std::move(sum));
}

void TreeWindows::AddLiveTrees(uint64_t number, int64_t sign, Window& window) {
  trees_.ForEachThread([&](const signal_safe::ThreadState& state) {
    if (!Covers(number, window, state.tid)) return;
    if (state.tid == window.java_tid) return AddOwnTree(state, sign, window.own);
    AddTree(state, sign, window.others);
  });
}

void TreeWindows::OnThreadEnded(const signal_safe::ThreadState& state) {
  AddTree(state, 1, ended_trees_);
  if (const auto found = corrections_.find(state.tid); found != corrections_.end()) {
    ended_trees_.Add(found->second);
    corrections_.erase(found);
  }
  for (auto& [number, window] : windows_) {
    if (!Covers(number, window, state.tid)) continue;
    AddTree(state, 1, state.tid == window.java_tid ? window.own : window.others);
  }
}

void TreeWindows::OnNodeRemoved(const signal_safe::ThreadState& state,
                                const signal_safe::Node& node) {
  const auto read = [this](const signal_safe::Node& at) { return Read(at); };
  corrections_[state.tid].AddNode(trees_.arena(), node, 1, read);
  for (auto& [number, window] : windows_) {
    if (!Covers(number, window, state.tid)) continue;
    TreeSnapshot& sum = state.tid == window.java_tid ? window.own : window.others;
    sum.AddNode(trees_.arena(), node, 1, read);
  }
}

bool TreeWindows::Covers(uint64_t number, const Window& window, uint64_t java_tid) const {
  switch (window.scope) {
    case Scope::kThread:
      return java_tid == window.java_tid;
    case Scope::kDescendants:
      return families_.Has(number, java_tid);
    case Scope::kProcess:
      return true;
  }
  return false;
}

void TreeWindows::AddTree(const signal_safe::ThreadState& state, int64_t sign, TreeSnapshot& into) {
  into.Add(trees_.arena(), state, sign,
           [this](const signal_safe::Node& node) { return Read(node); });
}

// Includes the opener's counts since its last probe: they are subtracted when the window opens, and
// added when it is read. The opener waits for this, so it cannot reach a probe meanwhile.
void TreeWindows::AddOwnTree(const signal_safe::ThreadState& state, int64_t sign,
                             TreeSnapshot& into) {
  // An ended thread was charged for everything, and its counters are reused by others.
  if (trees_.metrics().empty() || signal_safe::ReadAcquire(state.ended) != 0) {
    return AddTree(state, sign, into);
  }
  const auto* current =
      reinterpret_cast<const signal_safe::Node*>(signal_safe::ReadRelaxed(state.current));
  const PathValues open = AtColumns(trees_.OpenMetricsOf(state));
  into.Add(trees_.arena(), state, sign, [&](const signal_safe::Node& node) {
    PathValues values = Read(node);
    for (size_t i = 0; &node == current && i < kPathColumns; ++i) values[i] += open[i];
    return values;
  });
}

PathValues TreeWindows::Read(const signal_safe::Node& node) const {
  PathValues values = {};
  if (const size_t count = trees_.metrics().numbers.size(); count != 0) {
    const auto& metrics = *reinterpret_cast<const signal_safe::NodeMetrics*>(
        reinterpret_cast<const char*>(&node) + trees_.metrics_offset());
    calls::MetricValues charged = {};
    for (size_t i = 0; i < count; ++i) charged[i] = signal_safe::ReadRelaxed(metrics.base[i]);
    values = AtColumns(charged);
  }
  values[kCallsColumn] = static_cast<int64_t>(calls::ReadCounts(node).calls);
  // Roots have no times.
  if (has_cpu_time() && node.routine != 0) {
    values[kCpuColumn] = static_cast<int64_t>(trees_.values().CpuTicks(node));
  }
  return values;
}

absl::StatusOr<TreeSnapshot> TreeWindows::Whole(TreeSnapshot sum) const {
  if (sum.is_full()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", TreeSnapshot::kMaxNodes,
                     " call paths; count fewer methods (include=com.acme.**)"));
  }
  // Converts only differences of ticks: the estimate of the clock's rate changes with time.
  if (has_cpu_time()) {
    sum.Convert(kCpuColumn, [this](int64_t ticks) { return trees_.values().CpuNanos(ticks); });
  }
  return sum;
}

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
