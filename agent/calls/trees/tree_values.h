// Reads the times and metrics in tree nodes, including those of open activations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// What a node was charged with, callees not included: times in the clock's units (ClockScale), as
// totals and as the least and the greatest of one activation, and metrics by their index in
// signal_safe::NodeMetrics. Open activations count up to now.
struct NodeValues {
  uint64_t base = 0;
  uint64_t off = 0;
  uint64_t least = 0;
  uint64_t greatest = 0;
  MetricValues metrics = {};

  // Whether any total is not 0.
  bool any() const {
    return base + off != 0 ||
           std::any_of(metrics.begin(), metrics.end(), [](uint64_t value) { return value != 0; });
  }
  // Adds the totals; the least and the greatest stay.
  void AddTotals(const NodeValues& other) {
    base += other.base;
    off += other.off;
    for (size_t i = 0; i < metrics.size(); ++i) metrics[i] += other.metrics[i];
  }
};

// Reads one thread after the other: ReadOpenActivations, then its nodes. On the writer thread only.
// Values that the probes do not charge are 0, neither read nor written.
class TreeValues {
 public:
  // `scale`: of the clock that the probes read; null: none. `has_cum`: a NodeCum follows each node.
  TreeValues(const signal_safe::Arena* arena, const ClockScale* scale,
             signal_safe::ProbeClock clock, const PathMetrics& metrics, bool has_blocks,
             bool has_cum = false)
      : arena_(arena),
        scale_(scale),
        clock_is_coarse_(clock == signal_safe::ProbeClock::kCoarse),
        clock_is_cpu_(clock == signal_safe::ProbeClock::kCpu),
        metrics_(metrics),
        has_blocks_(has_blocks),
        has_cum_(has_cum) {}

  // Reads a thread's counts since it was last charged, in place of SinceCharged. It must keep the
  // thread's counters from being released meanwhile, because the thread may end.
  using OpenMetrics =
      std::function<MetricValues(const PathMetrics&, const signal_safe::ThreadState&)>;
  void SetOpenMetricsReader(OpenMetrics read) { read_open_metrics_ = std::move(read); }
  MetricValues OpenMetricsOf(const signal_safe::ThreadState& state) const {
    return read_open_metrics_(metrics_, state);
  }

  // Bytes of a node and the data that follows it.
  uint64_t node_bytes() const {
    return blocks_offset() + (has_blocks_ ? sizeof(signal_safe::NodeBlocks) : 0) +
           (has_cum_ ? sizeof(signal_safe::NodeCum) : 0);
  }

  // Bytes from a node to its metrics.
  uint64_t metrics_offset() const {
    return sizeof(signal_safe::Node) + (scale_ != nullptr ? sizeof(signal_safe::NodeTimes) : 0);
  }
  // Bytes from a node to its counters of blocks (blocks=paths).
  uint64_t blocks_offset() const {
    return metrics_offset() + (metrics_.empty() ? 0 : sizeof(signal_safe::NodeMetrics));
  }
  const PathMetrics& metrics() const { return metrics_; }

  // Reads the node where the thread is since its last probe, and its time and counts since then.
  // Must be called before the thread's nodes are read.
  void ReadOpenActivations(const signal_safe::ThreadState& state);

  NodeValues Read(const signal_safe::Node& node) const;
  // The same for a node without open activations.
  NodeValues ReadClosed(const signal_safe::Node& node) const;
  // The metrics of a thread's root.
  NodeValues ReadRoot(const signal_safe::Node& root) const;
  // The part of the values read that earlier files, or the group's tree, do not have.
  NodeValues SinceBaseline(const signal_safe::Node& node, NodeValues read) const;
  // Whether the times in nodes are processor time (clock=cpu).
  bool has_cpu_time() const { return clock_is_cpu_; }
  // With has_cpu_time: a node's processor time up to its last probe, in ticks; ticks in
  // nanoseconds.
  uint64_t CpuTicks(const signal_safe::Node& node) const;
  int64_t CpuNanos(int64_t ticks) const;
  // Whether any value, or any metric, changed since SetReported.
  bool ValuesChanged(const signal_safe::Node& node) const;
  bool MetricsChanged(const signal_safe::Node& node) const;

  void SetReported(signal_safe::Node& node, const NodeValues& read) const;
  void SetBaseline(signal_safe::Node& node, const NodeValues& read) const;

 private:
  const signal_safe::NodeMetrics& MetricsOf(const signal_safe::Node& node) const;
  // Whether the metrics are equal apart from elapsed ones, which all threads change.
  bool SameOwn(const MetricValues& one, const MetricValues& other) const;
  void FindOpenTime(const signal_safe::ThreadState& state);
  // Adds the time since `call_start`, when a timed call out of scope began (JTraceOutside).
  void AddOpenCall(uint64_t call_start);
  void ReadTimes(const signal_safe::Node& node, NodeValues& values) const;
  void ReadMetrics(const signal_safe::Node& node, NodeValues& values) const;
  NodeValues SinceBaselineTimes(const signal_safe::Node& node, NodeValues read) const;

  const signal_safe::Arena* arena_;
  const ClockScale* scale_;
  const bool clock_is_coarse_;
  const bool clock_is_cpu_;
  const PathMetrics metrics_;
  const bool has_blocks_;
  const bool has_cum_;
  const signal_safe::Node* open_node_ = nullptr;
  uint64_t open_ticks_ = 0;
  OpenMetrics read_open_metrics_ = SinceCharged;
  MetricValues open_metrics_ = {};
  absl::flat_hash_set<const signal_safe::Node*> open_path_;
};

}  // namespace jtrace::calls
