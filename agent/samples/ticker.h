// The thread that calls at each tick of timer=wall.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "absl/time/time.h"
#include "agent/base/agent_thread.h"
#include "agent/samples/handler/sample_schedule.h"

namespace jtrace::samples {

// Calls `tick` in each interval, at its end or at a random moment in it, from its own thread, which
// is never sampled. Start and Stop from one thread at a time.
class Ticker {
 public:
  ~Ticker() { Stop(); }
  // ticks: intervals that have passed since the last call; 1 unless the thread was late.
  void Start(absl::Duration interval, bool jitter, std::function<void(uint32_t ticks)> tick);
  // Waits for a running call, not for the next one.
  void Stop();

  // 0 while it does not run. Any thread.
  pid_t os_tid() const { return thread_.os_tid(); }

 private:
  void Run(SampleSchedule schedule, const std::function<void(uint32_t)>& tick);

  AgentThread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
};

}  // namespace jtrace::samples
