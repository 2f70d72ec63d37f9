#include "agent/metrics/own_readings.h"

#include <sys/resource.h>

namespace jtrace::metrics {

std::optional<int64_t> ReadClock(clockid_t clock) {
  timespec now;
  if (clock_gettime(clock, &now) != 0) return std::nullopt;
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<int64_t> ReadOwnNow(Metric metric) {
  if (metric == Metric::kCpu) return ReadClock(CLOCK_THREAD_CPUTIME_ID);
  if (metric != Metric::kSwitches && metric != Metric::kPageFaults) return std::nullopt;
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return std::nullopt;
  if (metric == Metric::kSwitches) return usage.ru_nvcsw + usage.ru_nivcsw;
  return usage.ru_minflt + usage.ru_majflt;
}

}  // namespace jtrace::metrics
