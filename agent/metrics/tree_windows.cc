#include "agent/metrics/tree_windows.h"

#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/probes/node_state.h"
#include "agent/probes/path_metrics.h"

namespace jtrace::metrics {
namespace {

// Metrics follow the calls.
PathValues AtPlaces(const MetricValues& metrics) {
  static_assert(kCpuPlace == 1 + std::tuple_size_v<MetricValues>);
  PathValues values = {};
  for (size_t i = 0; i < metrics.size(); ++i) values[1 + i] = static_cast<int64_t>(metrics[i]);
  return values;
}

}  // namespace

TreeWindows::TreeWindows(TreeCollector& trees, const ThreadFamilies& families)
    : trees_(trees), families_(families) {
  trees_.Watch(this);
  trees_.ForEachThread([this](const hot::ThreadState& state) {
    TreeSnapshot before;
    AddTree(state, -1, before);
    if (!before.empty()) corrections_.emplace(state.tid, std::move(before));
  });
}

TreeWindows::~TreeWindows() { trees_.Watch(nullptr); }

absl::StatusOr<TreeSnapshot> TreeWindows::SinceStart(std::optional<uint64_t> java_tid) {
  TreeSnapshot sum = java_tid.has_value() ? TreeSnapshot() : gone_;
  bool is_known = !java_tid.has_value();
  trees_.ForEachThread([&](const hot::ThreadState& state) {
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
  trees_.ForEachThread([&](const hot::ThreadState& state) {
    if (!Covers(number, window, state.tid)) return;
    if (state.tid == window.java_tid) return AddOwnTree(state, sign, window.own);
    AddTree(state, sign, window.others);
  });
}

void TreeWindows::OnThreadGone(const hot::ThreadState& state) {
  AddTree(state, 1, gone_);
  if (const auto found = corrections_.find(state.tid); found != corrections_.end()) {
    gone_.Add(found->second);
    corrections_.erase(found);
  }
  for (auto& [number, window] : windows_) {
    if (!Covers(number, window, state.tid)) continue;
    AddTree(state, 1, state.tid == window.java_tid ? window.own : window.others);
  }
}

void TreeWindows::OnNodeGone(const hot::ThreadState& state, const hot::Node& node) {
  const auto read = [this](const hot::Node& at) { return Read(at); };
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

void TreeWindows::AddTree(const hot::ThreadState& state, int64_t sign, TreeSnapshot& into) {
  into.Add(trees_.arena(), state, sign, [this](const hot::Node& node) { return Read(node); });
}

// The opener's counts since its last probe do not belong to the window, or are already in it. It
// waits for this call, so it cannot reach a probe meanwhile.
void TreeWindows::AddOwnTree(const hot::ThreadState& state, int64_t sign, TreeSnapshot& into) {
  // An ended thread was charged for everything, and its counters are reused by others.
  if (trees_.metrics().empty() || hot::ReadAcquire(state.ended) != 0) {
    return AddTree(state, sign, into);
  }
  const auto* current = reinterpret_cast<const hot::Node*>(hot::ReadRelaxed(state.current));
  const PathValues open = AtPlaces(trees_.OpenMetricsOf(state));
  into.Add(trees_.arena(), state, sign, [&](const hot::Node& node) {
    PathValues values = Read(node);
    for (size_t i = 0; &node == current && i < kPathPlaces; ++i) values[i] += open[i];
    return values;
  });
}

PathValues TreeWindows::Read(const hot::Node& node) const {
  PathValues values = {};
  if (const size_t count = trees_.metrics().numbers.size(); count != 0) {
    const auto& metrics = *reinterpret_cast<const hot::NodeMetrics*>(
        reinterpret_cast<const char*>(&node) + trees_.metrics_offset());
    MetricValues charged = {};
    for (size_t i = 0; i < count; ++i) charged[i] = hot::ReadRelaxed(metrics.base[i]);
    values = AtPlaces(charged);
  }
  values[kCallsPlace] = static_cast<int64_t>(ReadCounts(node).calls);
  // Roots have no times.
  if (has_cpu_time() && node.routine != 0) {
    values[kCpuPlace] = static_cast<int64_t>(trees_.values().CpuTicks(node));
  }
  return values;
}

absl::StatusOr<TreeSnapshot> TreeWindows::Whole(TreeSnapshot sum) const {
  if (sum.is_full()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", TreeSnapshot::kMaxNodes,
                     " call paths; count fewer methods (include=com.acme.**)"));
  }
  // Differences only: the clock's rate is known better with time.
  if (has_cpu_time()) {
    sum.Convert(kCpuPlace, [this](int64_t ticks) { return trees_.values().CpuNanos(ticks); });
  }
  return sum;
}

}  // namespace jtrace::metrics
