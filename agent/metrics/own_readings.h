// The kernel's counters of the calling thread that one call can read. Async-signal-safe.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>

#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// cpu.ns, switches and page.faults. None: this kernel does not report the metric, or not in one
// call.
std::optional<int64_t> ReadOwnNow(Metric metric);
// In nanoseconds.
std::optional<int64_t> ReadClock(clockid_t clock);

}  // namespace jtrace::metrics
