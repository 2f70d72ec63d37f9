// What the kernel has counted for the calling thread, as far as one call tells. Async-signal-safe.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>

#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// None: this kernel does not tell, or not in one call. cpu.ns, switches and page.faults.
std::optional<int64_t> ReadOwnNow(Metric metric);
// In nanoseconds.
std::optional<int64_t> ReadClock(clockid_t clock);

}  // namespace jtrace::metrics
