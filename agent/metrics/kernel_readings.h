// What the kernel has counted for a thread or for the process (S5.5): its counters are folded into
// the thread at every dispatch, by the kernel. Any thread, never a signal handler: own_readings.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// None where this kernel does not tell, or the thread is gone. kWall and kOffCpu are not here: they
// depend on when counting began.
//
// Of the calling thread.
std::optional<int64_t> ReadOwn(Metric metric);
// Of another thread of this process.
std::optional<int64_t> ReadThread(Metric metric, pid_t os_tid);
// The name that the kernel knows a thread of this process by; "": it is gone.
std::string KernelName(pid_t os_tid);
// Of all threads that ever ran.
std::optional<int64_t> ReadProcess(Metric metric);

}  // namespace jtrace::metrics
