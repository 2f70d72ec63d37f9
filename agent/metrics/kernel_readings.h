// Reads the kernel's counters of a thread or of the process (counts that are read, S5.5), which the
// kernel keeps up to date at every context switch.
//
// Any thread, but not in a signal handler (see current_thread_totals.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// These return none if this kernel does not report the metric, or the thread has ended. They do not
// know kWall and kOffCpu, which depend on when counting began.

// Of the calling thread.
std::optional<int64_t> ReadOwn(Metric metric);
// Bytes that the calling thread has read and written, both from one reading of its file.
struct IoBytes {
  int64_t read;
  int64_t written;
};
std::optional<IoBytes> ReadCurrentThreadIo();
// Of another thread of this process.
std::optional<int64_t> ReadThread(Metric metric, pid_t os_tid);
// Returns the kernel's name of a thread of this process; "": it has ended.
std::string KernelName(pid_t os_tid);
// Of all threads that ever ran.
std::optional<int64_t> ReadProcess(Metric metric);

}  // namespace jtrace::metrics
