#include "agent/calls/trees/tree_values.h"

#include <algorithm>

#include "agent/base/clock.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using signal_safe::Node;
using signal_safe::NodeMetrics;
using signal_safe::NodeTimes;
using signal_safe::ReadRelaxed;

namespace {

NodeTimes& TimesOf(Node& node) { return *reinterpret_cast<NodeTimes*>(&node + 1); }
const NodeTimes& TimesOf(const Node& node) {
  return *reinterpret_cast<const NodeTimes*>(&node + 1);
}

// A hash that shows whether any value changed. Metrics may decrease, so a plain sum could hide it.
uint64_t SumOf(const MetricValues& values) {
  uint64_t sum = 0;
  for (const uint64_t value : values) sum = sum * 0x9E3779B97F4A7C15u + value;
  return sum;
}

}  // namespace

const NodeMetrics& TreeValues::MetricsOf(const Node& node) const {
  return *reinterpret_cast<const NodeMetrics*>(reinterpret_cast<const char*>(&node) +
                                               metrics_offset());
}

// ---- Open activations -----------------------------------------------------------------------

void TreeValues::ReadOpenActivations(const signal_safe::ThreadState& state) {
  open_node_ = reinterpret_cast<const Node*>(ReadRelaxed(state.current));
  if (scale_ != nullptr) FindOpenTime(state);
  if (metrics_.empty()) return;
  open_metrics_ = {};
  if (signal_safe::ReadAcquire(state.ended) != 0) return;  // its last probe was ChargeRemainder
  const uint64_t call_start = ReadRelaxed(state.call_start);
  open_metrics_ = read_open_metrics_(metrics_, state);
  // A probe that ran meanwhile has charged the counts itself.
  const bool still = SameOwn(read_open_metrics_(metrics_, state), open_metrics_) &&
                     ReadRelaxed(state.call_start) == call_start &&
                     reinterpret_cast<const Node*>(ReadRelaxed(state.current)) == open_node_;
  if (!still) open_metrics_ = {};
  if (still && call_start != 0) AddOpenCall(call_start);
}

bool TreeValues::SameOwn(const MetricValues& one, const MetricValues& other) const {
  const auto own = static_cast<std::ptrdiff_t>(metrics_.first_elapsed());
  return std::equal(one.begin(), one.begin() + own, other.begin());
}

void TreeValues::AddOpenCall(uint64_t call_start) {
  const auto found = std::find(metrics_.numbers.begin(), metrics_.numbers.end(),
                               static_cast<uint8_t>(signal_safe::kBoundaryNanos));
  if (found == metrics_.numbers.end()) return;
  const uint64_t now = MonotonicNanos();
  const uint64_t start = std::max(call_start, ReadRelaxed(arena_->recording_start));
  if (now > start) open_metrics_[found - metrics_.numbers.begin()] += now - start;
}

void TreeValues::FindOpenTime(const signal_safe::ThreadState& state) {
  open_path_.clear();
  const uint64_t last_probe = ReadRelaxed(state.last_probe);
  // The current node and all nodes above it have an open activation.
  if (open_node_ != nullptr) {
    signal_safe::RootPath at(arena_, *open_node_);
    do {
      if (!at.IsAtRoot()) open_path_.insert(&*at);
    } while (at.Up());
  }
  const uint64_t tick = ReadRelaxed(arena_->tick);
  const uint64_t now = clock_is_coarse_ ? tick : scale_->Now();
  // A probe that ran meanwhile has charged the time itself.
  const bool still = ReadRelaxed(state.last_probe) == last_probe &&
                     reinterpret_cast<const Node*>(ReadRelaxed(state.current)) == open_node_;
  open_ticks_ = still && !signal_safe::HasLog(state) && now > last_probe ? now - last_probe : 0;
}

// ---- Reading --------------------------------------------------------------------------------

void TreeValues::ReadTimes(const Node& node, NodeValues& values) const {
  const NodeTimes& times = TimesOf(node);
  const uint64_t least = ReadRelaxed(times.least);
  values.least = least != 0 ? signal_safe::kMaxTicks - least : 0;
  values.greatest = ReadRelaxed(times.greatest);
  values.off = ReadRelaxed(times.off);
  values.base = ReadRelaxed(times.base);
}

void TreeValues::ReadMetrics(const Node& node, NodeValues& values) const {
  const NodeMetrics& metrics = MetricsOf(node);
  for (size_t i = 0; i < metrics_.numbers.size(); ++i) {
    values.metrics[i] = ReadRelaxed(metrics.base[i]);
    if (&node == open_node_) values.metrics[i] += open_metrics_[i];
  }
}

NodeValues TreeValues::ReadClosed(const Node& node) const {
  NodeValues values;
  if (scale_ != nullptr) ReadTimes(node, values);
  if (!metrics_.empty()) ReadMetrics(node, values);
  return values;
}

NodeValues TreeValues::ReadRoot(const Node& root) const {
  NodeValues values;
  if (!metrics_.empty()) ReadMetrics(root, values);
  return values;
}

NodeValues TreeValues::Read(const Node& node) const {
  if (scale_ == nullptr) return ReadClosed(node);
  const NodeTimes& times = TimesOf(node);
  const bool has_ended = ReadRelaxed(times.least) != 0;
  const uint64_t start = ReadRelaxed(times.base_start);
  NodeValues values = ReadClosed(node);
  const bool is_open = open_path_.contains(&node);
  uint64_t open = is_open && values.base > start ? values.base - start : 0;
  if (&node == open_node_) {
    values.base += open_ticks_;
    open += open_ticks_;
  }
  if (!has_ended) values.least = open;
  if (is_open) values.least = std::min(values.least, open);
  if (is_open) values.greatest = std::max(values.greatest, open);
  return values;
}

uint64_t TreeValues::CpuTicks(const Node& node) const { return ReadRelaxed(TimesOf(node).base); }

int64_t TreeValues::CpuNanos(int64_t ticks) const {
  if (ticks < 0) return -CpuNanos(-ticks);
  return static_cast<int64_t>(scale_->Nanos(static_cast<uint64_t>(ticks)));
}

// ---- Baselines ------------------------------------------------------------------------------

NodeValues TreeValues::SinceBaselineTimes(const Node& node, NodeValues read) const {
  const NodeTimes& times = TimesOf(node);
  read.base -= std::min(read.base, times.baseline_base);
  read.off -= std::min(read.off, times.baseline_off);
  if (signal_safe::At<Node>(arena_, node.parent)->routine == signal_safe::kPrunedRoutine) {
    // The node sums up calls from many paths, nested ones too, so only these bounds are valid.
    read.least = 0;
    read.greatest = read.base;
  }
  return read;
}

NodeValues TreeValues::SinceBaseline(const Node& node, NodeValues read) const {
  if (scale_ != nullptr && node.routine != 0) read = SinceBaselineTimes(node, read);
  for (size_t i = 0; i < metrics_.numbers.size(); ++i) {
    read.metrics[i] -= MetricsOf(node).baseline[i];
  }
  return read;
}

bool TreeValues::ValuesChanged(const Node& node) const {
  if (MetricsChanged(node)) return true;
  if (scale_ == nullptr) return false;
  const NodeValues values = Read(node);
  return values.base + values.off != TimesOf(node).reported;
}

bool TreeValues::MetricsChanged(const Node& node) const {
  return !metrics_.empty() && SumOf(ReadRoot(node).metrics) != MetricsOf(node).reported;
}

void TreeValues::SetReported(Node& node, const NodeValues& read) const {
  if (scale_ != nullptr) TimesOf(node).reported = read.base + read.off;
  if (!metrics_.empty()) {
    const_cast<NodeMetrics&>(MetricsOf(node)).reported = SumOf(read.metrics);
  }
}

void TreeValues::SetBaseline(Node& node, const NodeValues& read) const {
  if (scale_ != nullptr) {
    TimesOf(node).baseline_base = read.base;
    TimesOf(node).baseline_off = read.off;
  }
  if (metrics_.empty()) return;
  NodeMetrics& metrics = const_cast<NodeMetrics&>(MetricsOf(node));
  std::copy(read.metrics.begin(), read.metrics.end(), std::begin(metrics.baseline));
}

}  // namespace jtrace::calls
