// The perf events that can drive samples (timer=perf:EVENT), by the names that perf(1) uses. Only a
// table: perf_event.h finds out which of them are available. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "agent/signal_safe/perf_stop_mode.h"

namespace jtrace {

struct PerfEvent {
  std::string_view name;
  uint32_t type;    // perf_event_attr.type
  uint64_t config;  // perf_event_attr.config
  // True: counts nanoseconds of the thread's CPU time. False: counts occurrences.
  bool is_clock;
  // Happens in the kernel, even if the program causes it, so it cannot be counted without kernel
  // access.
  bool in_kernel;
  uint64_t default_period;  // events between two samples; unused for clocks
  uint64_t min_period;      // smaller ones are refused
};

std::span<const PerfEvent> PerfEvents();
// Returns null if there is no event of that name.
const PerfEvent* FindPerfEvent(std::string_view name);

// ---- On which kernels an event may stop itself at its signal, by a limit of one overflow
//
// Linux 6.16 and 6.17 stop an event that reaches its limit in its own timer's handler. The timer of
// a clock then waits for the handler that it is running in, with interrupts off, and the whole
// machine hangs. Events that no timer drives (faults, switches, the processor's counters) only set
// a mark.
//
// On the same kernels the count of cpu-clock misses what the thread used since the last overflow,
// whenever the thread leaves its processor. The count of task-clock is right.

// Returns uname(2)'s release of this machine's kernel; "" if it is unknown.
std::string KernelRelease();

// Returns who stops the event at its signal. Clocks are stopped by the handler on kernels that may
// have the fault: 6.16, 6.17, candidates of 6.18, an unknown release, and all of Red Hat's (".el"),
// which have newer perf code than their number says. Pure.
signal_safe::PerfStopMode EventStopOf(const PerfEvent& event, std::string_view kernel_release);

}  // namespace jtrace
