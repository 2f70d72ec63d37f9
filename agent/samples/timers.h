// Gives every attached thread its timer.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/perf_events.h"
#include "agent/signal_safe/event_stop.h"

namespace jtrace::samples {

// The timers that drive the samples of one thread: its CPU time, or events that it causes.

// The trigger of samples.
enum class TimerKind {
  kAuto,   // perf events if the kernel allows them and they are cheap here, else POSIX timers
  kPerf,   // perf_event_open: precise at any interval
  kPosix,  // timer_create: at most one signal a kernel tick, weighted by its overruns
  kWall,   // real time, including waiting threads (wall_clock.h)
  kEvent,  // a perf event requested by name
};

// The parameters of a perf event: it sends `signal` to thread `tid` each `period` nanoseconds of
// its CPU time, or events.
struct PerfSpec {
  pid_t tid;
  const PerfEvent& event;
  uint64_t period;
  int signal;
  signal_safe::EventStop stop = signal_safe::EventStop::kByKernel;
};

// A thread's perf event. The kernel writes its part of the stack to kernel_ring
// (agent/samples/handler/kernel_frames.h); null: the kernel does not report it, or gives no memory
// for it.
struct PerfTimer {
  int fd;
  void* kernel_ring;
};

// perf_event_open(2). The signal carries the descriptor and POLL_HUP or, of an event that is
// stopped by hand, POLL_IN. The event stands still while the signal is handled
// (signal_safe/event_stop.h).
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
// signal, so it is safe on every kernel (perf_events.h).
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

// What drives the samples.
struct TimerChoice {
  TimerKind timer = TimerKind::kAuto;
  // CPU time of a thread between two samples, at least 10 µs; kWall: real time, at least 1 ms.
  std::chrono::nanoseconds interval = std::chrono::milliseconds(1);
  // kEvent: which event, and, if it is not a clock, how many between two samples.
  const PerfEvent* event = nullptr;
  uint64_t period = 0;
  // Must not be a real-time signal: a full signal queue would turn into SIGIO, which kills.
  int signal = SIGPROF;
  // At a random moment of each interval; none: where the timer can. POSIX timers cannot, as they
  // fire at the kernel's ticks.
  std::optional<bool> jitter;
  // Decides who stops perf events (perf_events.h). Tests make it up.
  std::string kernel_release = KernelRelease();

  bool operator==(const TimerChoice&) const = default;
};

// Chooses between perf events and POSIX timers and keeps the handler's map from descriptors to
// slots. Perf events take at most a quarter of the process's descriptors; threads beyond that get
// POSIX timers. Not thread-safe.
class ThreadTimers {
 public:
  // Tries the wanted kind on the calling thread. Unavailable, with the available events, if it is
  // refused.
  static absl::StatusOr<std::unique_ptr<ThreadTimers>> Create(const TimerChoice& choice);

  absl::Status Arm(ThreadSlot* slot);
  // Safe to call twice. A signal may still be pending, and a handler running.
  void Disarm(ThreadSlot* slot);
  // After Disarm, when no handler uses the slot any more.
  static void Release(ThreadSlot* slot);

  TimerKind kind() const { return choice_.timer; }
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const;
  std::atomic<ThreadSlot*>* slot_by_fd() const { return slot_by_fd_; }
  uint32_t fd_count() const { return fd_count_; }
  // Threads that wanted a perf event and got a POSIX timer.
  uint64_t fallbacks() const { return fallbacks_; }
  // Whether samples have the kernel's frames; the number of threads without kernel memory for them.
  bool has_kernel_frames() const { return kernel_frames_; }
  // Whether perf events would give them, if POSIX timers were chosen.
  bool kernel_frames_allowed() const { return kernel_frames_allowed_; }
  uint64_t without_kernel_frames() const { return without_kernel_frames_; }

 private:
  explicit ThreadTimers(const TimerChoice& choice);
  // Whether the kind is available here; then it is used.
  absl::Status Try();
  absl::Status ArmPerf(ThreadSlot* slot);
  absl::Status ArmPosix(ThreadSlot* slot);
  PerfSpec SpecOf(pid_t tid) const;

  TimerChoice choice_;
  bool kernel_frames_ = false;
  bool kernel_frames_allowed_ = false;
  std::atomic<ThreadSlot*>* slot_by_fd_ = nullptr;
  uint32_t fd_count_ = 0;
  uint32_t perf_budget_ = 0;
  uint32_t perf_in_use_ = 0;
  uint64_t fallbacks_ = 0;
  uint64_t without_kernel_frames_ = 0;
};

}  // namespace jtrace::samples
