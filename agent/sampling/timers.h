// The timers that drive the samples of one thread: its CPU time, or events that it causes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/hot/event_stop.h"
#include "agent/sampling/perf_events.h"

namespace jtrace::sampling {

// The parameters of a perf event: it sends `signal` to thread `tid` each `period` nanoseconds of
// its CPU time, or events.
struct PerfSpec {
  pid_t tid;
  const PerfEvent& event;
  uint64_t period;
  int signal;
  hot::EventStop stop = hot::EventStop::kByKernel;
};

// A thread's perf event. The kernel writes its part of the stack to kernel_ring
// (agent/hot/kernel_frames.h); null: the kernel does not report it, or gives no memory for it.
struct PerfTimer {
  int fd;
  void* kernel_ring;
};

// perf_event_open(2). The signal carries the descriptor and POLL_HUP or, of an event that is
// stopped by hand, POLL_IN. The event stands still while the signal is handled (hot/event_stop.h).
//
// Opens it stopped. PermissionDenied if the kernel forbids counting inside itself
// (perf_event_paranoid) and the event needs it: a profile of CPU time without the kernel's part
// would be wrong, and the POSIX timer includes it. Other events are then counted outside of the
// kernel.
absl::StatusOr<PerfTimer> OpenPerfTimer(const PerfSpec& spec);
void ClosePerfTimer(int fd);
// False if the program closed the descriptor, perhaps to reuse its number for something else.
bool IsPerfTimer(int fd);
// No handler may be using it any more.
void UnmapKernelRing(void* ring);

// Names of the events that this machine and kernel give this process, as "task-clock, page-faults";
// "none" if there are none. Opens each of them for a moment.
std::string AvailablePerfEvents();

// The kernel's setting of who may use perf events; -1 if it cannot be read.
int PerfEventParanoid();

// Why this process may not count inside the kernel, as errno; 0: it may.
int PerfEventError();

// How to allow perf events that count inside the kernel: "sysctl kernel.perf_event_paranoid=1", or,
// if that setting does not forbid them, the container's profile. `error`: PerfEventError().
std::string PerfEventRemedy(int error);

// The time that one interrupt of such an event costs the program here: under 2 µs on most hardware,
// tens of microseconds in virtual machines that emulate the timer. Takes a few milliseconds of the
// calling thread's CPU time. Zero if no event can be opened. The event has no limit and sends no
// signal, so it is safe on every kernel (event_stop_choice.h).
std::chrono::nanoseconds MeasurePerfInterrupt();

// A POSIX timer: it sends `signal` to thread `tid` each `interval` of its CPU time.
struct PosixSpec {
  pid_t tid;
  std::chrono::nanoseconds interval;
  int signal;
};

// timer_create(2) on the thread's CPU clock: at most one signal a kernel tick, the others counted
// in si_overrun. The signal carries SI_TIMER and `cookie`. Starts at once; returns the kernel's id.
absl::StatusOr<int> StartPosixTimer(const PosixSpec& spec, void* cookie);
// Why this process may not have such timers, as errno; 0: it may. A limit of timers that is reached
// is not an error here.
int PosixTimerError();
void DeletePosixTimer(int id);

// CPU time of a thread of this process, nanoseconds; 0 if it has ended.
uint64_t ThreadCpuNanos(pid_t tid);

}  // namespace jtrace::sampling
