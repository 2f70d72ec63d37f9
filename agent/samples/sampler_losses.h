// Losses and costs of samples: the handler's counters, as cold code reads them, and the sampler's.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/signal_safe/cost_histogram.h"

namespace jtrace::samples {

// Samples or threads lost for one reason, or samples cut short; a running total.
struct SampleLoss {
  std::string name;  // "sample.ring_full", "walk.compiled_caller"
  uint64_t count;
};

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

// Returns the handlers' losses in all recordings; includes zeros, in a fixed order. Any thread.
std::vector<SampleLoss> HandlerLosses();
HandlerTimes MeasuredHandlerTimes();
// Returns the cost since `before`.
HandlerCost CostSince(const HandlerTimes& before);

// Counts what is lost outside of the handler, mostly threads that should be sampled but are not.
// Each cause has its own remedy. Not thread-safe.
class SamplerLosses {
 public:
  // Ticks of samples that were not taken before their thread or the recording ended.
  void AddLostTicks(uint64_t ticks) { lost_ticks_ += ticks; }
  uint64_t lost_ticks() const { return lost_ticks_; }
  // The program took over the samples' signal.
  void CountReplacedHandler() { ++replaced_handlers_; }
  uint64_t replaced_handlers() const { return replaced_handlers_; }
  // No slot was available: all are in use, or there is no memory for another.
  void CountNoSlot(bool all_used) { ++(all_used ? all_slots_used_ : no_memory_); }
  // The timer was refused. An ended thread no longer has a CPU clock: NotFound or InvalidArgument
  // (ESRCH, EINVAL).
  void CountNoTimer(const absl::Status& status) {
    const bool ended = absl::IsNotFound(status) || absl::IsInvalidArgument(status);
    ++(ended ? ended_ : no_timer_);
  }
  // Appends the numbers of threads by cause; includes zeros, always in the same order.
  void AppendThreadsTo(std::vector<SampleLoss>& losses) const {
    losses.push_back({"sample.thread_not_attached", no_timer_});
    losses.push_back({"sample.no_slot", all_slots_used_});
    losses.push_back({"sample.no_slot_memory", no_memory_});
    losses.push_back({"sample.thread_ended", ended_});
  }

 private:
  uint64_t lost_ticks_ = 0;
  uint64_t replaced_handlers_ = 0;
  uint64_t all_slots_used_ = 0;
  uint64_t no_memory_ = 0;
  uint64_t no_timer_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace jtrace::samples
