// Clocks that are allowed in signal handlers and probes.
#ifndef JTRACE_AGENT_HOT_CLOCK_H_
#define JTRACE_AGENT_HOT_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace jtrace::hot {

// CLOCK_MONOTONIC in nanoseconds. Async-signal-safe; served by the vdso, so no system call.
inline uint64_t MonotonicNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_CLOCK_H_
