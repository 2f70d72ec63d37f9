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
class TickThread {
 public:
  // `tick` must outlive the thread; it is set before the constructor returns.
  TickThread(uint64_t& tick, std::chrono::nanoseconds period);
  ~TickThread();
  TickThread(const TickThread&) = delete;
  TickThread& operator=(const TickThread&) = delete;

 private:
  void Run(std::chrono::nanoseconds period);
  void Tick();

  uint64_t& tick_;
  std::atomic<bool> stopping_{false};
  AgentThread thread_;
};

}  // namespace jtrace::calls
