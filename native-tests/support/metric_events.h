// The number of events that tests of counters count.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace jtrace::testing {

// JTRACE_METRIC_EVENTS=1000000000 is for long runs; `usual` without.
inline int64_t MetricEvents(int64_t usual) {
  const char* const text = getenv("JTRACE_METRIC_EVENTS");
  return text != nullptr ? atoll(text) : usual;
}

}  // namespace jtrace::testing
