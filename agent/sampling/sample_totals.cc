#include "agent/sampling/sample_totals.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "agent/hot/sample_handler.h"

namespace jtrace::sampling {

std::vector<SampleLoss> HandlerLosses() {
  const hot::SampleCounters& counters = hot::sample_counters;
  const auto value = [](const std::atomic<uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  std::vector<SampleLoss> losses = {
      {"sample.ring_full", value(counters.ring_full)},
      {"sample.nested", value(counters.nested)},
      {"sample.stale", value(counters.stale)},
      {"sample.position_unknown", value(counters.position_unknown)},
      {"sample.memory_wrong", value(counters.memory_wrong)},
  };
  for (int i = 1; i < static_cast<int>(hot::WalkNote::kCount); ++i) {
    losses.push_back({absl::StrCat("walk.", hot::WalkNoteName(static_cast<hot::WalkNote>(i))),
                      value(counters.notes[i])});
  }
  return losses;
}

HandlerCost MeasuredHandlerCost() {
  const hot::SampleCounters& counters = hot::sample_counters;
  HandlerCost result;
  for (const auto& bucket : counters.cost) result.samples += bucket.load();
  if (result.samples == 0) return result;
  result.average_ns = counters.cost_ns.load() / result.samples;
  uint64_t below = 0;
  for (int i = 0; i < hot::SampleCounters::kCostBuckets; ++i) {
    constexpr uint64_t kBucketNanos = 250;
    below += counters.cost[i].load();
    if (result.p50_ns == 0 && 2 * below >= result.samples) result.p50_ns = (i + 1) * kBucketNanos;
    if (100 * below >= 99 * result.samples) {
      result.p99_ns = (i + 1) * kBucketNanos;
      break;
    }
  }
  return result;
}

}  // namespace jtrace::sampling
