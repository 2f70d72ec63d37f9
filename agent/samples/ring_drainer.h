// The thread that empties sample rings while the writer is busy.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>

#include "agent/base/agent_thread.h"

namespace jtrace::samples {

// Calls `empty` whenever a ring fills (samples_doorbell), from its own thread, which is never
// sampled. Start and Stop from one thread at a time.
class RingDrainer {
 public:
  ~RingDrainer() { Stop(); }
  // If the system has no thread for it, only the writer empties rings, and samples may be dropped.
  void Start(std::function<void()> empty);
  // Waits for a running call.
  void Stop();

  // 0 while it does not run. Any thread.
  pid_t os_tid() const { return thread_.os_tid(); }

 private:
  void Run(const std::function<void()>& empty);

  AgentThread thread_;
  std::atomic<bool> stopping_{false};
};

}  // namespace jtrace::samples
