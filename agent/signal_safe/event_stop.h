// How a perf event stands still while the signal of its overflow is handled.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cstdint>

namespace jtrace::signal_safe {

// Who stops the event. By the kernel it costs no system call, and there is one signal for each
// start, so that real-time signals can be used, too. Where it must not:
// samples/perf_events.h.
enum class EventStop : uint8_t {
  kByKernel,  // at the overflow itself, by a limit of one (PERF_EVENT_IOC_REFRESH)
  kByHand,    // by StopEvent; until then it counts, and may overflow again
};

// In the handler, first. Async-signal-safe.
inline void StopEvent(int fd, EventStop stop) {
  if (stop == EventStop::kByHand) ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

// A stopped event; a running one goes on. Async-signal-safe.
inline void StartEvent(int fd, EventStop stop) {
  if (stop == EventStop::kByHand) {
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  } else {
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
  }
}

}  // namespace jtrace::signal_safe
