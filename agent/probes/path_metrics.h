#ifndef JTRACE_AGENT_PROBES_PATH_METRICS_H_
#define JTRACE_AGENT_PROBES_PATH_METRICS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "agent/hot/counter_block.h"
#include "agent/hot/layout.h"

namespace jtrace {

using MetricValues = std::array<uint64_t, hot::kPathMetrics>;

// Which metrics the probes charge to call paths: the place in a node of each is its place here.
// alloc.bytes, number 0, comes first; its values are read from the JVM's own structure for the
// thread, all others from the thread's CounterBlock.
struct PathMetrics {
  std::vector<uint8_t> numbers;  // hot::CounterBlock::cum; at most hot::kPathMetrics
  hot::AllocLayout layout;

  bool empty() const { return numbers.empty(); }
  bool has_allocated() const { return !numbers.empty() && numbers.front() == 0; }
  // As JTraceCharges.METRICS: the numbers plus 1, a byte each.
  uint64_t Packed() const;

  bool operator==(const PathMetrics& other) const { return numbers == other.numbers; }
};

// What a thread has counted of each: Cum. As SinceCharged.
MetricValues Counted(const PathMetrics& metrics, const hot::CounterBlock& block);

// What the thread has counted of each since it was last charged to a node: Cum - LastCum. On the
// thread itself, or on any other while it stands still; else what it had counted a moment ago.
MetricValues SinceCharged(const PathMetrics& metrics, const hot::ThreadState& state);

// Charges that to the thread's current node: there will be no probe any more. On the thread itself.
// `metrics_offset`: of hot::NodeMetrics in a node.
void ChargeRest(const PathMetrics& metrics, hot::ThreadState& state, uint64_t metrics_offset);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_PATH_METRICS_H_
