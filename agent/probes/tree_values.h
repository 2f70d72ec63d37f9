// Reads the times and metrics in tree nodes, including those of open activations.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/hot/layout.h"
#include "agent/probes/group_forest.h"
#include "agent/probes/path_metrics.h"
#include "agent/probes/tick_scale.h"

namespace jtrace {

// For one thread after the other. On the writer thread only. Values that the probes do not charge
// are 0, neither read nor written.
class TreeValues {
 public:
  // `scale`: of the clock that the probes read; null: none. `has_cum`: a NodeCum follows each node.
  TreeValues(const hot::Arena* arena, const TickScale* scale, hot::ProbeClock clock,
             const PathMetrics& metrics, bool has_blocks, bool has_cum = false)
      : arena_(arena),
        scale_(scale),
        clock_is_coarse_(clock == hot::ProbeClock::kCoarse),
        clock_is_cpu_(clock == hot::ProbeClock::kCpu),
        metrics_(metrics),
        has_blocks_(has_blocks),
        has_cum_(has_cum) {}

  // Replaces SinceCharged: reads the counts of a thread since it was last charged. A caller that
  // reads a thread that may end must prevent that.
  using OpenMetrics = std::function<MetricValues(const PathMetrics&, const hot::ThreadState&)>;
  void ReadOpenMetricsBy(OpenMetrics read) { read_open_metrics_ = std::move(read); }
  MetricValues OpenMetricsOf(const hot::ThreadState& state) const {
    return read_open_metrics_(metrics_, state);
  }

  // Bytes from one node to a next one in the same block.
  uint64_t node_bytes() const {
    return blocks_offset() + (has_blocks_ ? sizeof(hot::NodeBlocks) : 0) +
           (has_cum_ ? sizeof(hot::NodeCum) : 0);
  }

  // From a node to its metrics.
  uint64_t metrics_offset() const {
    return sizeof(hot::Node) + (scale_ != nullptr ? sizeof(hot::NodeTimes) : 0);
  }
  // From a node to its counters of blocks (blocks=paths).
  uint64_t blocks_offset() const {
    return metrics_offset() + (metrics_.empty() ? 0 : sizeof(hot::NodeMetrics));
  }
  const PathMetrics& metrics() const { return metrics_; }

  // Finds where the thread has been since its last probe, for how long, and its counts since.
  // Before its nodes are read.
  void FindOpen(const hot::ThreadState& state);

  NodeValues Read(const hot::Node& node) const;
  // The same for a node without open activations.
  NodeValues ReadClosed(const hot::Node& node) const;
  // The metrics of a thread's root.
  NodeValues ReadRoot(const hot::Node& root) const;
  // The part of the values read that earlier files, or the group's tree, do not have.
  NodeValues SinceBaseline(const hot::Node& node, NodeValues read) const;
  // Whether the times in nodes are of the processor.
  bool has_cpu_time() const { return clock_is_cpu_; }
  // With has_cpu_time: that of the node up to its last probe, in the clock's units; and from these.
  uint64_t CpuTicks(const hot::Node& node) const;
  int64_t CpuNanos(int64_t ticks) const;
  // Whether any value, or any metric, changed since it was reported.
  bool Passed(const hot::Node& node) const;
  bool MetricsPassed(const hot::Node& node) const;

  void SetReported(hot::Node& node, const NodeValues& read) const;
  void SetBaseline(hot::Node& node, const NodeValues& read) const;

 private:
  const hot::NodeMetrics& MetricsOf(const hot::Node& node) const;
  // Whether what the thread itself did is equal.
  bool SameOwn(const MetricValues& one, const MetricValues& other) const;
  void FindOpenTime(const hot::ThreadState& state);
  // The open node is that of a timed call (JTraceOutside).
  void AddOpenCall(uint64_t call_start);
  void ReadTimes(const hot::Node& node, NodeValues& values) const;
  void ReadMetrics(const hot::Node& node, NodeValues& values) const;
  NodeValues SinceBaselineTimes(const hot::Node& node, NodeValues read) const;

  const hot::Arena* arena_;
  const TickScale* scale_;
  const bool clock_is_coarse_;
  const bool clock_is_cpu_;
  const PathMetrics metrics_;
  const bool has_blocks_;
  const bool has_cum_;
  const hot::Node* open_node_ = nullptr;
  uint64_t open_ticks_ = 0;
  OpenMetrics read_open_metrics_ = SinceCharged;
  MetricValues open_metrics_ = {};
  absl::flat_hash_set<const hot::Node*> open_path_;
};

}  // namespace jtrace
