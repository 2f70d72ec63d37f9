#include "agent/sampling/thread_timers.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

namespace jtrace::sampling {
namespace {

constexpr uint32_t kMaxDescriptors = 1 << 20;

uint32_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<uint32_t>(std::min<rlim_t>(limit.rlim_cur, kMaxDescriptors));
}

// Whether perf events would cost the program more than sampling may (2 %, handler included). Then
// POSIX timers do as well: with their weights the totals are right, only single samples are fewer.
// Who asks for less than a millisecond wants the resolution and pays for it.
bool PerfIsTooDear(std::chrono::nanoseconds interval) {
  constexpr std::chrono::milliseconds kCoarse(1);
  return interval >= kCoarse && MeasurePerfInterrupt() > interval / 100;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadTimers>> ThreadTimers::Create(
    TimerKind kind, std::chrono::nanoseconds interval, int signal) {
  if (kind != TimerKind::kPosix) {
    const absl::StatusOr<int> trial = OpenPerfTimer({gettid(), interval, signal});
    if (trial.ok()) {
      ClosePerfTimer(*trial);
    } else if (kind == TimerKind::kPerf) {
      return absl::UnavailableError(
          absl::StrCat("perf events are not available: ", trial.status().message()));
    }
    const bool perf = trial.ok() && (kind == TimerKind::kPerf || !PerfIsTooDear(interval));
    kind = perf ? TimerKind::kPerf : TimerKind::kPosix;
  }
  return std::unique_ptr<ThreadTimers>(new ThreadTimers(kind, interval, signal));
}

ThreadTimers::ThreadTimers(TimerKind kind, std::chrono::nanoseconds interval, int signal)
    : kind_(kind), interval_(interval), signal_(signal) {
  if (kind != TimerKind::kPerf) return;
  const uint32_t descriptors = DescriptorLimit();
  void* const memory = mmap(nullptr, descriptors * sizeof *slot_by_fd_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    kind_ = TimerKind::kPosix;
    return;
  }
  // Never unmapped: a late signal is looked up in it.
  slot_by_fd_ = static_cast<std::atomic<hot::ThreadSlot*>*>(memory);
  fd_count_ = descriptors;
  perf_budget_ = descriptors / 4;
}

absl::Status ThreadTimers::Arm(hot::ThreadSlot* slot) {
  slot->perf_fd.store(-1, std::memory_order_relaxed);
  slot->posix_timer.store(-1, std::memory_order_relaxed);
  const TimerSpec spec{slot->os_tid, interval_, signal_};
  if (kind_ == TimerKind::kPerf) {
    if (perf_in_use_ < perf_budget_ && ArmPerf(slot, spec).ok()) return absl::OkStatus();
    ++fallbacks_;
  }
  return ArmPosix(slot, spec);
}

absl::Status ThreadTimers::ArmPerf(hot::ThreadSlot* slot, const TimerSpec& spec) {
  const absl::StatusOr<int> fd = OpenPerfTimer(spec);
  if (!fd.ok()) return fd.status();
  if (static_cast<uint32_t>(*fd) >= fd_count_) {
    ClosePerfTimer(*fd);
    return absl::ResourceExhaustedError("descriptor beyond the table");
  }
  ++perf_in_use_;
  slot->perf_fd.store(*fd, std::memory_order_relaxed);
  slot_by_fd_[*fd].store(slot, std::memory_order_release);
  StartPerfTimer(*fd);
  return absl::OkStatus();
}

absl::Status ThreadTimers::ArmPosix(hot::ThreadSlot* slot, const TimerSpec& spec) {
  const absl::StatusOr<int> id = StartPosixTimer(spec, slot);
  if (!id.ok()) return id.status();
  slot->posix_timer.store(*id, std::memory_order_relaxed);
  return absl::OkStatus();
}

void ThreadTimers::Disarm(hot::ThreadSlot* slot) {
  const int fd = slot->perf_fd.exchange(-1, std::memory_order_relaxed);
  if (fd >= 0) {
    slot_by_fd_[fd].store(nullptr, std::memory_order_release);
    ClosePerfTimer(fd);
    --perf_in_use_;
  }
  const int timer = slot->posix_timer.exchange(-1, std::memory_order_relaxed);
  if (timer >= 0) DeletePosixTimer(timer);
}

}  // namespace jtrace::sampling
