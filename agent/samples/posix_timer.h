// POSIX timers on the CPU clocks of threads.
#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace jtrace::samples {

// A POSIX timer: it sends `signal` to thread `tid` each `interval` of its CPU time.
struct PosixSpec {
  pid_t tid;
  absl::Duration interval;
  int signal;
};

// Starts a timer on the thread's CPU clock (timer_create(2)) and returns the kernel's id of it. It
// sends at most one signal a kernel tick and counts the others in si_overrun. The signal carries
// SI_TIMER and `cookie`.
absl::StatusOr<int> StartPosixTimer(const PosixSpec& spec, void* cookie);
// Returns why this process may not have such timers, as errno; 0: it may. A limit of timers that is
// reached is not an error here.
int PosixTimerError();
void DeletePosixTimer(int id);

}  // namespace jtrace::samples
