// The perf events that can drive samples (timer=perf:EVENT), by the names that perf(1) uses. A
// table; timers.h finds out which of them are available.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace jtrace::sampling {

struct PerfEvent {
  std::string_view name;
  uint32_t type;    // perf_event_attr.type
  uint64_t config;  // perf_event_attr.config
  // Counts nanoseconds of the thread's CPU time; else occurrences.
  bool is_clock;
  // Happens in the kernel, even if the program causes it: it cannot be counted without kernel
  // access.
  bool in_kernel;
  uint64_t default_period;  // events between two samples; unused for clocks
  uint64_t least_period;
};

std::span<const PerfEvent> PerfEvents();
// Null if there is none of that name.
const PerfEvent* FindPerfEvent(std::string_view name);

}  // namespace jtrace::sampling
