#include "agent/samples/thread_timers.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/samples/posix_timer.h"

namespace jtrace::samples {
namespace {

constexpr uint32_t kMaxDescriptors = 1 << 20;

uint32_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<uint32_t>(std::min<rlim_t>(limit.rlim_cur, kMaxDescriptors));
}

// Whether perf events would cost the program more than sampling may: 1 % of its time for the
// interrupt; the handler takes about as much again. Then POSIX timers are good enough: their
// weights make the totals correct, there are only fewer samples. An interval below a millisecond
// requests the resolution at any cost.
bool PerfIsTooExpensive(absl::Duration interval) {
  return interval >= absl::Milliseconds(1) && MeasurePerfInterrupt() > interval / 100;
}

// Why an event is refused, and what is available instead.
absl::Status Refusal(const PerfEvent& event, const absl::Status& why) {
  std::string text = absl::StrCat("perf:", std::string(event.name), " is not available here: ");
  if (const int error = PerfEventError(); error == EACCES) {
    absl::StrAppend(&text, "the kernel forbids it (perf_event_paranoid is ", PerfEventParanoid(),
                    "); allow it: ", PerfEventRemedy(error));
  } else if (error == EPERM || error == ENOSYS) {
    absl::StrAppend(&text, "the system call is forbidden (", strerror(error), "); ",
                    PerfEventRemedy(error), ", or leave timer= out");
  } else if (event.type == PERF_TYPE_HARDWARE) {
    absl::StrAppend(&text, "the processor, or the virtual machine, has no such counter");
  } else {
    absl::StrAppend(&text, why.message());
  }
  absl::StrAppend(&text, "; available: ", AvailablePerfEvents());
  return absl::UnavailableError(text);
}

uint64_t SeedOf(pid_t tid) { return (static_cast<uint64_t>(tid) << 32 ^ MonotonicNanos()) | 1; }

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadTimers>> ThreadTimers::Create(const TimerChoice& choice,
                                                                   SamplerCounters& counters) {
  std::unique_ptr<ThreadTimers> timers(new ThreadTimers(choice, counters));
  if (absl::Status status = timers->ChooseKind(); !status.ok()) return status;
  return timers;
}

ThreadTimers::ThreadTimers(const TimerChoice& choice, SamplerCounters& counters)
    : counters_(counters),
      choice_(choice),
      event_(choice.timer == TimerKind::kPerfEvent ? *choice.event : *FindPerfEvent("cpu-clock")),
      event_stop_(EventStopOf(event_, choice.kernel_release)),
      period_(event_.is_clock ? static_cast<uint64_t>(absl::ToInt64Nanoseconds(choice.interval))
                              : choice.period) {}

absl::Status ThreadTimers::ChooseKind() {
  const TimerKind wanted = choice_.timer;
  if (wanted == TimerKind::kCpuPosix || wanted == TimerKind::kWall) return absl::OkStatus();
  const absl::StatusOr<OpenedPerfEvent> trial =
      OpenPerfEvent({gettid(), event_, period_, choice_.signal, event_stop_});
  if (trial.ok()) {
    ClosePerfEvent(trial->fd);
    kernel_frames_ = trial->kernel_ring != nullptr;
    if (kernel_frames_) UnmapPerfRing(trial->kernel_ring);
  } else if (wanted != TimerKind::kAuto) {
    return Refusal(event_, trial.status());
  }
  const bool needs_perf = choice_.jitter == true;
  if (needs_perf && !trial.ok()) return Refusal(event_, trial.status());
  const bool perf = trial.ok() && (wanted != TimerKind::kAuto || needs_perf ||
                                   PosixTimerError() != 0 || !PerfIsTooExpensive(choice_.interval));
  choice_.timer = !perf                        ? TimerKind::kCpuPosix
                  : wanted == TimerKind::kAuto ? TimerKind::kCpuPerf
                                               : wanted;
  kernel_frames_allowed_ = kernel_frames_;
  kernel_frames_ &= perf;
  if (!perf) return absl::OkStatus();
  const uint32_t descriptors = DescriptorLimit();
  void* const memory = mmap(nullptr, descriptors * sizeof *slot_by_fd_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no memory for descriptors");
  // Never unmapped: a late signal is looked up in it.
  slot_by_fd_ = static_cast<std::atomic<ThreadSlot*>*>(memory);
  fd_count_ = descriptors;
  perf_budget_ = descriptors / 4;
  return absl::OkStatus();
}

bool ThreadTimers::has_jitter() const {
  return choice_.jitter.value_or(true) && choice_.timer != TimerKind::kCpuPosix &&
         (choice_.timer == TimerKind::kWall || event_.is_clock);
}

absl::Status ThreadTimers::Arm(ThreadSlot* slot) {
  slot->schedule = {};
  slot->perf_fd.store(-1, std::memory_order_relaxed);
  slot->posix_timer.store(-1, std::memory_order_relaxed);
  slot->kernel_ring.store(nullptr, std::memory_order_relaxed);
  switch (choice_.timer) {
    case TimerKind::kWall:
      return absl::OkStatus();
    case TimerKind::kPerfEvent:
    case TimerKind::kCpuPerf: {
      absl::Status status = ArmPerf(slot);
      // Nothing else counts page faults; POSIX timers count CPU time, less precisely.
      if (status.ok() || !event_.is_clock) return status;
      break;
    }
    default:
      return ArmPosix(slot);
  }
  absl::Status status = ArmPosix(slot);
  if (status.ok()) ++counters_.timer_fallback;
  return status;
}

absl::Status ThreadTimers::ArmPerf(ThreadSlot* slot) {
  if (perf_in_use_ >= perf_budget_) return absl::ResourceExhaustedError("too many descriptors");
  PerfEventSpec spec = {slot->os_tid, event_, period_, choice_.signal, event_stop_};
  SampleSchedule schedule = {};
  if (has_jitter()) {
    schedule = SampleSchedule::Of(spec.period, SeedOf(slot->os_tid));
    spec.period = schedule.WaitAfter(0);
  }
  const absl::StatusOr<OpenedPerfEvent> timer = OpenPerfEvent(spec);
  if (!timer.ok()) return timer.status();
  slot->schedule = schedule;
  slot->event_stop = spec.stop;
  slot->kernel_ring.store(timer->kernel_ring, std::memory_order_relaxed);
  if (static_cast<uint32_t>(timer->fd) >= fd_count_) {
    ClosePerfEvent(timer->fd);
    UnmapRing(slot);
    slot->schedule = {};
    return absl::ResourceExhaustedError("descriptor beyond the table");
  }
  if (kernel_frames_ && timer->kernel_ring == nullptr) ++counters_.no_kernel_memory;
  ++perf_in_use_;
  slot->perf_fd.store(timer->fd, std::memory_order_relaxed);
  slot_by_fd_[timer->fd].store(slot, std::memory_order_release);
  signal_safe::StartPerfEvent(timer->fd, spec.stop);
  return absl::OkStatus();
}

absl::Status ThreadTimers::ArmPosix(ThreadSlot* slot) {
  const absl::StatusOr<int> id =
      StartPosixTimer({slot->os_tid, choice_.interval, choice_.signal}, slot);
  if (!id.ok()) return id.status();
  slot->posix_timer.store(*id, std::memory_order_relaxed);
  return absl::OkStatus();
}

void ThreadTimers::Disarm(ThreadSlot* slot) {
  const int fd = slot->perf_fd.exchange(-1, std::memory_order_relaxed);
  if (fd >= 0) {
    --perf_in_use_;
    // If the program closed the descriptor, its number may belong to another thread's timer by now.
    ThreadSlot* owner = slot;
    if (slot_by_fd_[fd].compare_exchange_strong(owner, nullptr)) ClosePerfEvent(fd);
  }
  const int timer = slot->posix_timer.exchange(-1, std::memory_order_relaxed);
  if (timer >= 0) DeletePosixTimer(timer);
}

void ThreadTimers::UnmapRing(ThreadSlot* slot) {
  void* const ring = slot->kernel_ring.exchange(nullptr, std::memory_order_relaxed);
  if (ring != nullptr) UnmapPerfRing(ring);
}

}  // namespace jtrace::samples
