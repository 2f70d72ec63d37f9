// clock=coarse: the thread that advances Arena::tick.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "agent/base/agent_thread.h"

namespace jtrace::calls {

// Stores CLOCK_MONOTONIC, in nanoseconds and rounded down to whole microseconds, every `period`, or
// later when all processors are busy: a probe may read a time that is a period or more old, but the
// time never goes back.
class CoarseClockThread {
 public:
  // `tick` must outlive the thread; it is set before the constructor returns.
  CoarseClockThread(uint64_t& tick, std::chrono::nanoseconds period);
  ~CoarseClockThread();
  CoarseClockThread(const CoarseClockThread&) = delete;
  CoarseClockThread& operator=(const CoarseClockThread&) = delete;

 private:
  void Run(std::chrono::nanoseconds period);
  void Tick();

  uint64_t& tick_;
  std::atomic<bool> stopping_{false};
  AgentThread thread_;
};

}  // namespace jtrace::calls
