// Opens perf events of threads, and finds out which of them this process may have.
//
// Any thread, not in signal handlers, unless noted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/base/perf_event_table.h"
#include "agent/signal_safe/perf_stop_mode.h"

namespace jtrace {

// The parameters of a perf event: it sends `signal` to thread `tid` each `period` nanoseconds of
// its CPU time, or events.
struct PerfEventSpec {
  pid_t tid;
  const PerfEvent& event;
  uint64_t period;
  int signal;
  signal_safe::PerfStopMode stop = signal_safe::PerfStopMode::kByKernel;
};

// A thread's perf event, which is stopped. The kernel writes its part of the stack to kernel_ring
// (perf_ring.h, kKernelRingBytes); null: the kernel does not report it, or gives no memory
// for it.
struct OpenedPerfEvent {
  int fd;
  void* kernel_ring;
};

// Opens a stopped perf event (perf_event_open(2)). Its signal carries the descriptor, and POLL_HUP
// or, if the event is stopped by hand, POLL_IN. The event does not count while its signal is
// handled (signal_safe/perf_stop_mode.h).
//
// PermissionDenied if the kernel forbids counting inside itself (perf_event_paranoid) and the event
// needs that: a profile of CPU time without the kernel's part would be wrong, and the POSIX timer
// includes it. Other events then count outside of the kernel only.
absl::StatusOr<OpenedPerfEvent> OpenPerfEvent(const PerfEventSpec& spec);
// Stops and closes the event, unless the program has closed its descriptor.
void ClosePerfEvent(int fd);
// Whether the descriptor is a perf event's. The program may have closed it and reused its number.
bool IsPerfEvent(int fd);
// Call it when no handler uses the ring any more.
void UnmapPerfRing(void* ring);

// Returns the names of the events that this machine and kernel give this process, as "task-clock,
// page-faults"; "none" if there are none. Opens each of them for a moment.
std::string AvailablePerfEvents();

// Returns perf_event_paranoid, the kernel's setting of who may use perf events; -1 if it is
// unknown.
int PerfEventParanoid();

// Returns why this process may not count inside the kernel, as errno; 0: it may.
int PerfEventError();

// Returns how to allow perf events: "sysctl kernel.perf_event_paranoid=1", or a change of the
// container's profile. `error`: the errno of perf_event_open; `paranoid`: the highest setting that
// allows them, 1 for those that count inside the kernel.
std::string PerfEventRemedy(int error, int paranoid = 1);

// Measures what one interrupt of a clock event costs the program here: under 2 µs on most hardware,
// tens of microseconds in virtual machines that emulate the timer. Takes a few milliseconds of the
// calling thread's CPU time. Zero if no event can be opened. The event has no limit and sends no
// signal, so it is safe on every kernel (perf_event_table.h).
absl::Duration MeasurePerfInterrupt();

}  // namespace jtrace
