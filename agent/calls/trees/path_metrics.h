// The metrics that the probes charge to call paths.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "agent/signal_safe/metric_counts.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

using MetricValues = std::array<uint64_t, signal_safe::kMaxPathMetrics>;

// The index of each metric in a node is its index here. alloc.bytes, number 0, is first; its values
// are read from the JVM's own structure for the thread, all others from the thread's MetricCounts.
// Elapsed metrics (a number plus signal_safe::kElapsed) are last; their values are what all threads
// were charged with. The metric itself is then among those before.
struct PathMetrics {
  // Indexes of signal_safe::MetricCounts::counts, some with signal_safe::kElapsed added; ascending,
  // at most signal_safe::kMaxPathMetrics.
  std::vector<uint8_t> numbers;
  signal_safe::AllocLayout layout;
  uint64_t* elapsed = nullptr;  // Arena::elapsed; null: before there is an arena

  bool empty() const { return numbers.empty(); }
  bool has_allocated() const { return !numbers.empty() && numbers.front() == 0; }
  // Index of the first elapsed metric; numbers.size() if there is none.
  size_t first_elapsed() const;
  size_t IndexOf(uint32_t number) const;
  // Returns the value of JTraceProbe.METRICS: the numbers plus 1, a byte each, the first lowest.
  uint64_t Packed() const;

  bool operator==(const PathMetrics& other) const { return numbers == other.numbers; }
};

// Returns the thread's count of each metric. It is as exact as that of SinceCharged.
MetricValues Counted(const PathMetrics& metrics, const signal_safe::MetricCounts& block);

// Returns the thread's count of each metric since it was last charged to a node.
// Exact on the thread itself, or while it stands still; else the count of a moment ago.
MetricValues SinceCharged(const PathMetrics& metrics, const signal_safe::ThreadState& state);

// Charges what SinceCharged returns to the thread's current node, because no more probes will
// follow. On the thread itself. `metrics_offset`: bytes from a node to its NodeMetrics.
void ChargeRemainder(const PathMetrics& metrics, signal_safe::ThreadState& state,
                     uint64_t metrics_offset);

}  // namespace jtrace::calls
