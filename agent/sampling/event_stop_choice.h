// On which kernels an event may have a limit.
//
// Linux 6.16 and 6.17 stop an event that reaches its limit in its own timer's handler. The timer of
// a clock then waits for that handler, which is itself, with interrupts off: the whole machine
// hangs. Events that no timer drives (faults, switches, the processor's counters) only set a mark.
//
// On the same kernels the count of cpu-clock misses what the thread used since the last overflow,
// whenever the thread leaves its processor; that of task-clock is right.
#pragma once

#include <string>
#include <string_view>

#include "agent/hot/event_stop.h"
#include "agent/sampling/perf_events.h"

namespace jtrace::sampling {

// uname(2)'s release of this machine's kernel; "" if it is unknown.
std::string KernelRelease();

// By hand for clocks on kernels that may have the fault: 6.16, 6.17, candidates of 6.18; any of Red
// Hat's (".el"), which have newer perf code than their number says; and an unknown release. Pure.
hot::EventStop StopOf(const PerfEvent& event, std::string_view kernel_release);

}  // namespace jtrace::sampling
