// Gives every attached thread the timer that drives its samples: its CPU time, or events that it
// causes.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/base/perf_event.h"
#include "agent/base/perf_event_table.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/sample_losses.h"

namespace jtrace::samples {

// The trigger of samples.
enum class TimerKind {
  kAuto,       // perf events if the kernel allows them and they are cheap here, else POSIX timers
  kCpuPerf,    // perf_event_open: precise at any interval
  kCpuPosix,   // timer_create: at most one signal a kernel tick, weighted by its overruns
  kWall,       // real time, including waiting threads (wall_clock.h)
  kPerfEvent,  // a perf event requested by name
};

// interval=
inline constexpr absl::Duration kDefaultInterval = absl::Milliseconds(1);
// Shorter intervals are refused.
inline constexpr absl::Duration kMinInterval = absl::Microseconds(20);
inline constexpr absl::Duration kMinWallInterval = absl::Milliseconds(1);

// What drives the samples.
struct TimerChoice {
  TimerKind timer = TimerKind::kAuto;
  // CPU time of a thread between two samples, at least kMinInterval; kWall: real time, at least
  // kMinWallInterval.
  absl::Duration interval = kDefaultInterval;
  // kPerfEvent: which event, and, if it is not a clock, how many between two samples.
  const PerfEvent* event = nullptr;
  uint64_t period = 0;
  // Must not be a real-time signal: a full signal queue would turn into SIGIO, which kills.
  int signal = SIGPROF;
  // Whether samples are at random moments of their intervals. nullopt: they are, unless the timer
  // is a POSIX timer, which fires at the kernel's ticks.
  std::optional<bool> jitter;
  // Decides who stops perf events (base/perf_event_table.h). Tests set it.
  std::string kernel_release = KernelRelease();

  bool operator==(const TimerChoice&) const = default;
};

// Chooses between perf events and POSIX timers and keeps the handler's map from descriptors to
// slots. Perf events take at most a quarter of the process's descriptors; threads beyond that get
// POSIX timers. Not thread-safe.
class ThreadTimers {
 public:
  // Tries the wanted kind on the calling thread. Unavailable if it is refused; the message lists
  // the available events. Arm counts in `counters`.
  static absl::StatusOr<std::unique_ptr<ThreadTimers>> Create(const TimerChoice& choice,
                                                              SamplerCounters& counters);

  // Starts the slot's timer. kWall: has none, only resets the slot.
  absl::Status Arm(ThreadSlot* slot);
  // Safe to call twice. A signal may still be pending, and a handler running.
  void Disarm(ThreadSlot* slot);
  // Unmaps the kernel's ring of the slot. After Disarm, when no handler uses the slot any more.
  static void UnmapRing(ThreadSlot* slot);

  TimerKind kind() const { return choice_.timer; }
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const;
  std::atomic<ThreadSlot*>* slot_by_fd() const { return slot_by_fd_; }
  uint32_t fd_count() const { return fd_count_; }
  // Whether samples have the kernel's frames.
  bool has_kernel_frames() const { return kernel_frames_; }
  // Whether perf events would give them, where POSIX timers were chosen.
  bool kernel_frames_allowed() const { return kernel_frames_allowed_; }

 private:
  ThreadTimers(const TimerChoice& choice, SamplerCounters& counters);
  // Opens the wanted kind for a moment, and sets the kind that is used.
  absl::Status ChooseKind();
  absl::Status ArmPerf(ThreadSlot* slot);
  absl::Status ArmPosix(ThreadSlot* slot);

  SamplerCounters& counters_;
  TimerChoice choice_;
  const PerfEvent& event_;
  const signal_safe::PerfStopMode event_stop_;
  const uint64_t period_;  // of event_: nanoseconds or events
  bool kernel_frames_ = false;
  bool kernel_frames_allowed_ = false;
  std::atomic<ThreadSlot*>* slot_by_fd_ = nullptr;
  uint32_t fd_count_ = 0;
  uint32_t perf_budget_ = 0;
  uint32_t perf_in_use_ = 0;
};

}  // namespace jtrace::samples
