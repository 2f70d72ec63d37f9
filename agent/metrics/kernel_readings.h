// The kernel's counters of a thread or of the process (counts that are read, S5.5), which the
// kernel folds into the thread at every dispatch.
//
// Any thread, but not in a signal handler (see own_totals.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// None if this kernel does not report the metric, or the thread has ended. kWall and kOffCpu are
// not here: they depend on when counting began.

// Of the calling thread.
std::optional<int64_t> ReadOwn(Metric metric);
// What the calling thread has read and written: both of ReadOwn's values in one reading.
struct IoBytes {
  int64_t read;
  int64_t written;
};
std::optional<IoBytes> ReadOwnIo();
// Of another thread of this process.
std::optional<int64_t> ReadThread(Metric metric, pid_t os_tid);
// The kernel's name of a thread of this process; "": it has ended.
std::string KernelName(pid_t os_tid);
// Of all threads that ever ran.
std::optional<int64_t> ReadProcess(Metric metric);

}  // namespace jtrace::metrics
