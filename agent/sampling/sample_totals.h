// The handler's counters, as the session reads them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/hot/cost_buckets.h"

namespace jtrace::sampling {

// Samples lost or cut short, by reason; running totals.
struct SampleLoss {
  std::string name;  // "sample.ring_full", "walk.compiled_caller"
  uint64_t count;
};

// A histogram of the handler's times since the process began.
struct HandlerTimes {
  uint64_t total_ns = 0;
  std::array<uint64_t, hot::kCostBuckets> buckets = {};
};

// Cost of the handler in nanoseconds; zeros if it did not run.
struct HandlerCost {
  uint64_t samples = 0;
  uint64_t total_ns = 0;
  uint64_t average_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p99_ns = 0;
};

// For the process, all recordings together; includes zeros, always in the same order. Any thread.
std::vector<SampleLoss> HandlerLosses();
HandlerTimes MeasuredHandlerTimes();
// The cost since `before`.
HandlerCost CostSince(const HandlerTimes& before);

}  // namespace jtrace::sampling
