// The time that handlers of samples take.
#pragma once

#include <array>
#include <cstdint>

#include "agent/signal_safe/cost_histogram.h"

namespace jtrace::samples {

// A histogram of the times that the handler took since the process began.
struct HandlerTimes {
  uint64_t total_ns = 0;
  std::array<uint64_t, signal_safe::kCostBuckets> buckets = {};
};

// Cost of the handler in nanoseconds; zeros if it did not run.
struct HandlerCost {
  uint64_t samples = 0;
  uint64_t total_ns = 0;
  uint64_t average_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p99_ns = 0;
};

// Any thread.
HandlerTimes MeasuredHandlerTimes();
// Returns the cost since `before`. Any thread.
HandlerCost CostSince(const HandlerTimes& before);

}  // namespace jtrace::samples
