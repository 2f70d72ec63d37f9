// Detects threads that use CPU time but are not sampled.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/sample_losses.h"

namespace jtrace::samples {

// A timer is silent if its thread blocks the signal, or if the program closed the perf event's
// descriptor. The handler cannot detect this; a comparison of the thread's CPU time with its
// samples can.
//
// NoteSample and Check run on one thread (the writer), Begin while that thread does not.
class UnsampledThreads {
 public:
  // Counts silent threads by cause in `counters`, which Check changes.
  explicit UnsampledThreads(SamplerCounters& counters) : counters_(counters) {}

  // A recording begins. A thread that uses `silence` of CPU time without a sample is reported. 0:
  // none is, because the timer does not count CPU time.
  void Begin(absl::Duration silence, int signal);
  // A sample of the index-th slot arrived.
  void NoteSample(uint32_t index);
  // Called about once a second for each slot. Makes a few system calls, more for a silent thread.
  void Check(uint32_t index, const ThreadSlot& slot);

 private:
  struct WatchedThread {
    pid_t tid = 0;
    bool sampled = false;  // it had a sample since the last check
    bool reported = false;
    uint32_t silent_checks = 0;
    uint64_t cpu_ns = 0;  // of the thread, at its last sample
  };
  WatchedThread& StateAt(uint32_t index);
  void CountSilent(const ThreadSlot& slot);

  SamplerCounters& counters_;
  uint64_t silence_ns_ = 0;
  int signal_ = 0;
  std::vector<WatchedThread> states_;  // by slot
};

// Whether a thread of this process blocks a signal, according to /proc; false if it has ended.
bool BlocksSignal(pid_t tid, int signal);

}  // namespace jtrace::samples
