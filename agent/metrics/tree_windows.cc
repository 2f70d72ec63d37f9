#include "agent/metrics/tree_windows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/calls/trees/node_state.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::metrics {
namespace {

// Returns the metrics in their columns, which follow that of the calls.
PathValues AtColumns(const calls::MetricValues& metrics) {
  static_assert(kCpuColumn == 1 + std::tuple_size_v<calls::MetricValues>);
  PathValues values = {};
  for (size_t i = 0; i < metrics.size(); ++i) values[1 + i] = static_cast<int64_t>(metrics[i]);
  return values;
}

}  // namespace

TreeWindows::TreeWindows(calls::TreeCollector& trees, const ThreadDescendants& families)
    : trees_(trees), families_(families) {
  trees_.Watch(this);
  trees_.ForEachThread([this](const signal_safe::ThreadState& state) {
    TreeSnapshot before;
    AddTree(state, -1, before);
    if (!before.empty()) corrections_.emplace(state.java_tid, std::move(before));
  });
}

TreeWindows::~TreeWindows() { trees_.Watch(nullptr); }

absl::StatusOr<TreeSnapshot> TreeWindows::SinceStart(std::optional<uint64_t> java_tid) {
  TreeSnapshot sum = java_tid.has_value() ? TreeSnapshot() : ended_trees_;
  bool is_known = !java_tid.has_value();
  trees_.ForEachThread([&](const signal_safe::ThreadState& state) {
    if (java_tid.has_value() && state.java_tid != *java_tid) return;
    is_known = true;
    AddTree(state, 1, sum);
    if (const auto found = corrections_.find(state.java_tid); found != corrections_.end()) {
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

void TreeWindows::Open(uint64_t window, WindowScope scope, uint64_t java_tid) {
  Window opened = {.scope = scope, .java_tid = java_tid};
  AddLiveTrees(window, -1, opened);
  windows_.insert_or_assign(window, std::move(opened));
}

absl::StatusOr<TreeSnapshot> TreeWindows::CountsOf(uint64_t window, const Routines* roots) {
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
    if (!Covers(number, window, state.java_tid)) return;
    if (state.java_tid == window.java_tid) return AddOwnTree(state, sign, window.own);
    AddTree(state, sign, window.others);
  });
}

void TreeWindows::OnThreadEnded(const signal_safe::ThreadState& state) {
  AddTree(state, 1, ended_trees_);
  if (const auto found = corrections_.find(state.java_tid); found != corrections_.end()) {
    ended_trees_.Add(found->second);
    corrections_.erase(found);
  }
  for (auto& [number, window] : windows_) {
    if (!Covers(number, window, state.java_tid)) continue;
    AddTree(state, 1, state.java_tid == window.java_tid ? window.own : window.others);
  }
}

void TreeWindows::OnNodeRemoved(const signal_safe::ThreadState& state,
                                const signal_safe::Node& node) {
  const auto read = [this](const signal_safe::Node& at) { return Read(at); };
  corrections_[state.java_tid].AddNode(trees_.arena(), node, 1, read);
  for (auto& [number, window] : windows_) {
    if (!Covers(number, window, state.java_tid)) continue;
    TreeSnapshot& sum = state.java_tid == window.java_tid ? window.own : window.others;
    sum.AddNode(trees_.arena(), node, 1, read);
  }
}

bool TreeWindows::Covers(uint64_t number, const Window& window, uint64_t java_tid) const {
  switch (window.scope) {
    case WindowScope::kThread:
      return java_tid == window.java_tid;
    case WindowScope::kDescendants:
      return families_.Has(number, java_tid);
    case WindowScope::kProcess:
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

}  // namespace jtrace::metrics
