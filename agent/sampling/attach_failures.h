// Why threads that should be sampled are not: each cause has its own remedy.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "agent/sampling/sample_totals.h"

namespace jtrace::sampling {

// Not thread-safe.
class AttachFailures {
 public:
  // No slot was available: all are in use, or there is no memory for another.
  void CountNoSlot(bool all_used) { ++(all_used ? all_slots_used_ : no_memory_); }
  // The timer was refused. An ended thread no longer has a CPU clock: NotFound or InvalidArgument
  // (ESRCH, EINVAL).
  void CountNoTimer(const absl::Status& status) {
    const bool ended = absl::IsNotFound(status) || absl::IsInvalidArgument(status);
    ++(ended ? ended_ : no_timer_);
  }
  // Includes zeros, always in the same order.
  void AppendTo(std::vector<SampleLoss>& losses) const {
    losses.push_back({"sample.thread_not_attached", no_timer_});
    losses.push_back({"sample.no_slot", all_slots_used_});
    losses.push_back({"sample.no_slot_memory", no_memory_});
    losses.push_back({"sample.thread_ended", ended_});
  }

 private:
  uint64_t all_slots_used_ = 0;
  uint64_t no_memory_ = 0;
  uint64_t no_timer_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace jtrace::sampling
