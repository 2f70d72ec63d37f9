#include "agent/samples/handler_cost.h"

#include <atomic>

#include "agent/samples/handler/sample_handler.h"

namespace jtrace::samples {

HandlerTimes MeasuredHandlerTimes() {
  const SampleCounters& counters = sample_counters;
  HandlerTimes times;
  times.total_ns = counters.cost_ns.load(std::memory_order_relaxed);
  for (size_t i = 0; i < times.buckets.size(); ++i) {
    times.buckets[i] = counters.cost[i].load(std::memory_order_relaxed);
  }
  return times;
}

HandlerCost CostSince(const HandlerTimes& before) {
  const HandlerTimes now = MeasuredHandlerTimes();
  HandlerCost result;
  result.total_ns = now.total_ns - before.total_ns;
  for (size_t i = 0; i < now.buckets.size(); ++i) {
    result.samples += now.buckets[i] - before.buckets[i];
  }
  if (result.samples == 0) return {};
  result.average_ns = result.total_ns / result.samples;
  uint64_t below = 0;
  for (size_t i = 0; i < now.buckets.size(); ++i) {
    const uint64_t before_it = below;
    below += now.buckets[i] - before.buckets[i];
    const uint64_t cost = signal_safe::CostOfBucket(static_cast<int>(i));
    if (2 * before_it < result.samples && 2 * below >= result.samples) result.p50_ns = cost;
    if (100 * before_it < 99 * result.samples && 100 * below >= 99 * result.samples) {
      result.p99_ns = cost;
    }
  }
  return result;
}

}  // namespace jtrace::samples
