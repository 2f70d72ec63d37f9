// One timer on one thread's CPU time.
#ifndef JTRACE_AGENT_SAMPLING_TIMERS_H_
#define JTRACE_AGENT_SAMPLING_TIMERS_H_

#include <sys/types.h>

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::sampling {

// What a timer's signal does: `signal` goes to thread `tid` each `interval` of its CPU time.
struct TimerSpec {
  pid_t tid;
  std::chrono::nanoseconds interval;
  int signal;
};

// perf_event_open(2) on the software CPU clock: a high-resolution timer of the kernel. Its signal
// carries POLL_IN or POLL_HUP and the descriptor, and it stops at each signal until it is started
// again (PERF_EVENT_IOC_REFRESH).
//
// Opens it stopped; returns the descriptor. PermissionDenied if the kernel would not let kernel
// time be counted (perf_event_paranoid): a profile without it would be wrong, and the POSIX timer
// has it.
absl::StatusOr<int> OpenPerfTimer(const TimerSpec& spec);
void StartPerfTimer(int fd);
void ClosePerfTimer(int fd);

// What one interrupt of such an event takes from the program here: under 2 µs on most hardware,
// tens of microseconds in virtual machines that emulate the timer. Takes a few milliseconds of the
// calling thread's CPU time. Zero if no event can be opened.
std::chrono::nanoseconds MeasurePerfInterrupt();

// timer_create(2) on the thread's CPU clock: at most one signal a kernel tick, the others counted
// in si_overrun. The signal carries SI_TIMER and `cookie`. Starts at once; returns the kernel's id.
absl::StatusOr<int> StartPosixTimer(const TimerSpec& spec, void* cookie);
void DeletePosixTimer(int id);

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_TIMERS_H_
