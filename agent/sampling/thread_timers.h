// Gives every attached thread its timer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "agent/hot/thread_slot.h"
#include "agent/sampling/sampler.h"
#include "agent/sampling/timers.h"

namespace jtrace::sampling {

// The kind of timer that drives the samples.
struct TimerChoice {
  TimerKind kind;
  std::chrono::nanoseconds interval;  // of clocks
  const PerfEvent* event;             // kEvent only
  uint64_t period;                    // events between two samples, if the event is not a clock
  int signal;
  // At a random moment of each interval; none: where the timer can. POSIX timers cannot, as they
  // fire at the kernel's ticks.
  std::optional<bool> jitter;
  // Of the kernel, which decides who stops an event.
  std::string kernel_release;
};

// Chooses between perf events and POSIX timers and keeps the handler's map from descriptors to
// slots. Perf events take at most a quarter of the process's descriptors; threads beyond that get
// POSIX timers. Not thread-safe.
class ThreadTimers {
 public:
  // Tries the wanted kind on the calling thread. Unavailable, with the available events, if it is
  // refused.
  static absl::StatusOr<std::unique_ptr<ThreadTimers>> Create(const TimerChoice& choice);

  absl::Status Arm(hot::ThreadSlot* slot);
  // Safe to call twice. A signal may still be pending, and a handler running.
  void Disarm(hot::ThreadSlot* slot);
  // After Disarm, when no handler uses the slot any more.
  static void Release(hot::ThreadSlot* slot);

  TimerKind kind() const { return choice_.kind; }
  // Whether samples are at random moments of their intervals.
  bool has_jitter() const;
  std::atomic<hot::ThreadSlot*>* slot_by_fd() const { return slot_by_fd_; }
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
  absl::Status ArmPerf(hot::ThreadSlot* slot);
  absl::Status ArmPosix(hot::ThreadSlot* slot);
  PerfSpec SpecOf(pid_t tid) const;

  TimerChoice choice_;
  bool kernel_frames_ = false;
  bool kernel_frames_allowed_ = false;
  std::atomic<hot::ThreadSlot*>* slot_by_fd_ = nullptr;
  uint32_t fd_count_ = 0;
  uint32_t perf_budget_ = 0;
  uint32_t perf_in_use_ = 0;
  uint64_t fallbacks_ = 0;
  uint64_t without_kernel_frames_ = 0;
};

}  // namespace jtrace::sampling
