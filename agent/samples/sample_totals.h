// The handler's counters, as the session reads them.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/signal_safe/counter_block.h"

namespace jtrace::samples {

// Samples lost or cut short, by reason; running totals.
struct SampleLoss {
  std::string name;  // "sample.ring_full", "walk.compiled_caller"
  uint64_t count;
};

// A histogram of the handler's times since the process began.
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

// For the process, all recordings together; includes zeros, always in the same order. Any thread.
std::vector<SampleLoss> HandlerLosses();
HandlerTimes MeasuredHandlerTimes();
// The cost since `before`.
HandlerCost CostSince(const HandlerTimes& before);

// Why threads that should be sampled are not: each cause has its own remedy.

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

// Notices threads that use the processor but are not sampled.

// A timer is silent if its thread blocks the signal, or if the program closed the perf event's
// descriptor. The handler cannot detect this; a comparison of the thread's CPU time with its
// samples can.
//
// NoteTick and Look from one thread (the writer); Begin while it is idle. AppendTo not during Look.
class TickWatch {
 public:
  // A recording begins. `silence`: a thread with this CPU time and no sample is reported; 0:
  // nothing is watched, because the timer does not count CPU time.
  void Begin(std::chrono::nanoseconds silence, int signal);
  // A sample of the index-th slot arrived.
  void NoteTick(uint32_t index);
  // Called about once a second for each slot: a few system calls, more for a silent thread.
  void Look(uint32_t index, const ThreadSlot& slot);

  // Threads by cause, all recordings together; includes zeros, always in the same order.
  void AppendTo(std::vector<SampleLoss>& losses) const;

 private:
  struct Seen {
    pid_t tid = 0;
    bool heard = false;
    bool reported = false;
    uint32_t silent_looks = 0;
    uint64_t cpu_ns = 0;  // of the thread, at its last sample
  };
  Seen& SeenOf(uint32_t index);
  void Report(const ThreadSlot& slot);

  uint64_t silence_ns_ = 0;
  int signal_ = 0;
  std::vector<Seen> seen_;  // by slot
  uint64_t blocked_ = 0;
  uint64_t closed_ = 0;
  uint64_t other_ = 0;
};

// Whether a thread of this process blocks a signal, according to /proc; false if it has ended.
bool BlocksSignal(pid_t tid, int signal);

}  // namespace jtrace::samples
