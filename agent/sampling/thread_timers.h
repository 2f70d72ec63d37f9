// Gives every attached thread its timer.
#ifndef JTRACE_AGENT_SAMPLING_THREAD_TIMERS_H_
#define JTRACE_AGENT_SAMPLING_THREAD_TIMERS_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "agent/hot/thread_slot.h"
#include "agent/sampling/sampler.h"
#include "agent/sampling/timers.h"

namespace jtrace::sampling {

// Chooses between perf events and POSIX timers and keeps the handler's map from descriptors to
// slots. Perf events take at most a quarter of the process's descriptors; threads beyond that get
// POSIX timers. Not thread-safe.
class ThreadTimers {
 public:
  // Tries the wanted kind on the calling thread: Unavailable if kPerf is asked for and refused.
  static absl::StatusOr<std::unique_ptr<ThreadTimers>> Create(TimerKind kind,
                                                              std::chrono::nanoseconds interval,
                                                              int signal);

  absl::Status Arm(hot::ThreadSlot* slot);
  // Safe to call twice. A signal may still be on its way.
  void Disarm(hot::ThreadSlot* slot);

  TimerKind kind() const { return kind_; }
  std::atomic<hot::ThreadSlot*>* slot_by_fd() const { return slot_by_fd_; }
  uint32_t fd_count() const { return fd_count_; }
  // Threads that wanted a perf event and got a POSIX timer.
  uint64_t fallbacks() const { return fallbacks_; }

 private:
  ThreadTimers(TimerKind kind, std::chrono::nanoseconds interval, int signal);
  absl::Status ArmPerf(hot::ThreadSlot* slot, const TimerSpec& spec);
  absl::Status ArmPosix(hot::ThreadSlot* slot, const TimerSpec& spec);

  TimerKind kind_;
  const std::chrono::nanoseconds interval_;
  const int signal_;
  std::atomic<hot::ThreadSlot*>* slot_by_fd_ = nullptr;
  uint32_t fd_count_ = 0;
  uint32_t perf_budget_ = 0;
  uint32_t perf_in_use_ = 0;
  uint64_t fallbacks_ = 0;
};

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_THREAD_TIMERS_H_
