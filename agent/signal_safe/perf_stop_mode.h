// Stops a perf event while the signal of its overflow is handled, so the handler is not counted.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cstdint>

namespace jtrace::signal_safe {

// Who stops the event at its overflow. If the kernel does, that takes no system call, and each
// start gives one signal, so that real-time signals, which queue, can be used too. Some kernels
// hang when they stop a clock: base/perf_event_table.h.
enum class PerfStopMode : uint8_t {
  kByKernel,   // at the overflow itself, by a limit of one (PERF_EVENT_IOC_REFRESH)
  kByHandler,  // by StopPerfEvent; until then it counts, and may overflow again
};

// Stops the event unless the kernel has; the handler calls it first. Async-signal-safe.
inline void StopPerfEvent(int fd, PerfStopMode stop) {
  if (stop == PerfStopMode::kByHandler) ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

// Starts a stopped event; a running one continues. Async-signal-safe.
inline void StartPerfEvent(int fd, PerfStopMode stop) {
  if (stop == PerfStopMode::kByHandler) {
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  } else {
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
  }
}

}  // namespace jtrace::signal_safe
