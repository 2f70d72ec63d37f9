#include "agent/samples/timers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/base/own_file.h"
#include "agent/samples/handler/kernel_frames.h"
#include "agent/samples/perf_events.h"

namespace jtrace::samples {
namespace {

constexpr uint32_t kMaxDescriptors = 1 << 20;

uint32_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<uint32_t>(std::min<rlim_t>(limit.rlim_cur, kMaxDescriptors));
}

// Whether perf events would cost the program more than sampling may (2 %, handler included). Then
// POSIX timers are good enough: their weights make the totals correct, there are only fewer
// samples. An interval below a millisecond requests the resolution at any cost.
bool PerfIsTooExpensive(std::chrono::nanoseconds interval) {
  constexpr std::chrono::milliseconds kCoarse(1);
  return interval >= kCoarse && MeasurePerfInterrupt() > interval / 100;
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

// The kernel's encoding of another thread's CPU clock: ~tid << 3, scheduler clock, per thread
// (include/linux/posix-timers.h). pthread_getcpuclockid needs a pthread_t, which a tid does not
// have.
clockid_t ThreadCpuClock(pid_t tid) {
  constexpr clockid_t kPerThread = 4, kScheduled = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3) | kPerThread | kScheduled;
}

std::chrono::nanoseconds ThreadCpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// CPU time of a fixed amount of work, about a fifth of a millisecond on current hardware: each
// start of a recording pays six of them.
std::chrono::nanoseconds TimeFixedWork() {
  constexpr int kRounds = 200'000;
  uint64_t value = 1;
  const auto begin = ThreadCpuTime();
  for (int i = 0; i < kRounds; ++i) {
    value *= 0x9e37'79b9'7f4a'7c15;
    asm volatile("" : "+r"(value));  // each product is used
  }
  return ThreadCpuTime() - begin;
}

// A stopped event; its descriptor, or -1 and errno.
int OpenEvent(const PerfSpec& spec, bool with_kernel) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = spec.event.type;
  attributes.config = spec.event.config;
  // perf_events.h: cpu-clock's count is wrong where a clock is stopped by hand.
  if (spec.event.is_clock && spec.stop == signal_safe::EventStop::kByHand) {
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  }
  attributes.sample_period = spec.period;
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = !with_kernel;
  if (with_kernel) {
    attributes.sample_type = PERF_SAMPLE_CALLCHAIN;
    attributes.exclude_callchain_user = 1;
  }
  return WithHighNumber(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, spec.tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// The calling thread's CPU clock, without call chains and stopped; -1 if it is unavailable.
int OpenPlainClock(std::chrono::nanoseconds period) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<uint64_t>(period.count());
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

absl::Status SendSignalsTo(int fd, const PerfSpec& spec) {
  const f_owner_ex owner{F_OWNER_TID, spec.tid};
  if (fcntl(fd, F_SETSIG, spec.signal) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
      fcntl(fd, F_SETFL, O_ASYNC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot direct a perf event's signals");
  }
  return absl::OkStatus();
}

// The page of the header and the pages of records.
size_t KernelRingSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)) + kKernelRingBytes; }

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadTimers>> ThreadTimers::Create(const TimerChoice& choice) {
  std::unique_ptr<ThreadTimers> timers(new ThreadTimers(choice));
  if (absl::Status status = timers->Try(); !status.ok()) return status;
  return timers;
}

ThreadTimers::ThreadTimers(const TimerChoice& choice) : choice_(choice) {
  if (choice_.timer != TimerKind::kEvent) choice_.event = FindPerfEvent("cpu-clock");
}

PerfSpec ThreadTimers::SpecOf(pid_t tid) const {
  const uint64_t period =
      choice_.event->is_clock ? static_cast<uint64_t>(choice_.interval.count()) : choice_.period;
  return {tid, *choice_.event, period, choice_.signal,
          StopOf(*choice_.event, choice_.kernel_release)};
}

absl::Status ThreadTimers::Try() {
  const TimerKind wanted = choice_.timer;
  if (wanted == TimerKind::kPosix || wanted == TimerKind::kWall) return absl::OkStatus();
  const absl::StatusOr<PerfTimer> trial = OpenPerfTimer(SpecOf(gettid()));
  if (trial.ok()) {
    ClosePerfTimer(trial->fd);
    kernel_frames_ = trial->kernel_ring != nullptr;
    if (kernel_frames_) UnmapKernelRing(trial->kernel_ring);
  } else if (wanted != TimerKind::kAuto) {
    return Refusal(*choice_.event, trial.status());
  }
  const bool needs_perf = choice_.jitter == true;
  if (needs_perf && !trial.ok()) return Refusal(*choice_.event, trial.status());
  const bool perf = trial.ok() && (wanted != TimerKind::kAuto || needs_perf ||
                                   PosixTimerError() != 0 || !PerfIsTooExpensive(choice_.interval));
  choice_.timer = !perf                        ? TimerKind::kPosix
                  : wanted == TimerKind::kAuto ? TimerKind::kPerf
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
  return choice_.jitter.value_or(true) && choice_.timer != TimerKind::kPosix &&
         (choice_.timer == TimerKind::kWall || choice_.event->is_clock);
}

absl::Status ThreadTimers::Arm(ThreadSlot* slot) {
  slot->moments = {};
  slot->perf_fd.store(-1, std::memory_order_relaxed);
  slot->posix_timer.store(-1, std::memory_order_relaxed);
  slot->kernel_ring.store(nullptr, std::memory_order_relaxed);
  switch (choice_.timer) {
    case TimerKind::kWall:
      return absl::OkStatus();
    case TimerKind::kEvent:
    case TimerKind::kPerf: {
      absl::Status status = ArmPerf(slot);
      // Nothing else counts page faults; POSIX timers count CPU time, less precisely.
      if (status.ok() || !choice_.event->is_clock) return status;
      break;
    }
    default:
      return ArmPosix(slot);
  }
  absl::Status status = ArmPosix(slot);
  if (status.ok()) ++fallbacks_;
  return status;
}

absl::Status ThreadTimers::ArmPerf(ThreadSlot* slot) {
  if (perf_in_use_ >= perf_budget_) return absl::ResourceExhaustedError("too many descriptors");
  PerfSpec spec = SpecOf(slot->os_tid);
  SampleMoments moments = {};
  if (has_jitter()) {
    moments = SampleMoments::Of(spec.period, SeedOf(slot->os_tid));
    spec.period = moments.WaitAfter(0);
  }
  const absl::StatusOr<PerfTimer> timer = OpenPerfTimer(spec);
  if (!timer.ok()) return timer.status();
  slot->moments = moments;
  slot->event_stop = spec.stop;
  slot->kernel_ring.store(timer->kernel_ring, std::memory_order_relaxed);
  if (static_cast<uint32_t>(timer->fd) >= fd_count_) {
    ClosePerfTimer(timer->fd);
    Release(slot);
    slot->moments = {};
    return absl::ResourceExhaustedError("descriptor beyond the table");
  }
  if (kernel_frames_ && timer->kernel_ring == nullptr) ++without_kernel_frames_;
  ++perf_in_use_;
  slot->perf_fd.store(timer->fd, std::memory_order_relaxed);
  slot_by_fd_[timer->fd].store(slot, std::memory_order_release);
  signal_safe::StartEvent(timer->fd, spec.stop);
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
    slot_by_fd_[fd].store(nullptr, std::memory_order_release);
    ClosePerfTimer(fd);
    --perf_in_use_;
  }
  const int timer = slot->posix_timer.exchange(-1, std::memory_order_relaxed);
  if (timer >= 0) DeletePosixTimer(timer);
}

void ThreadTimers::Release(ThreadSlot* slot) {
  void* const ring = slot->kernel_ring.exchange(nullptr, std::memory_order_relaxed);
  if (ring != nullptr) UnmapKernelRing(ring);
}

absl::StatusOr<PerfTimer> OpenPerfTimer(const PerfSpec& spec) {
  bool with_kernel = true;
  int fd = OpenEvent(spec, with_kernel);
  if (fd < 0 && (errno == EACCES || errno == EPERM) && !spec.event.in_kernel) {
    with_kernel = false;
    fd = OpenEvent(spec, with_kernel);
  }
  if (fd < 0) return absl::ErrnoToStatus(errno, "perf_event_open");
  absl::Status status = SendSignalsTo(fd, spec);
  if (!status.ok()) {
    close(fd);
    return status;
  }
  if (!with_kernel) return PerfTimer{fd, nullptr};
  void* const ring = mmap(nullptr, KernelRingSize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return PerfTimer{fd, ring != MAP_FAILED ? ring : nullptr};
}

void UnmapKernelRing(void* ring) { munmap(ring, KernelRingSize()); }

bool IsPerfTimer(int fd) {
  constexpr std::string_view kPerfEvent = "anon_inode:[perf_event]";
  char target[64];
  const ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), target, sizeof target);
  return size >= 0 && std::string_view(target, static_cast<size_t>(size)) == kPerfEvent;
}

void ClosePerfTimer(int fd) {
  if (!IsPerfTimer(fd)) return;
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  close(fd);
}

std::string AvailablePerfEvents() {
  std::string names;
  for (const PerfEvent& event : PerfEvents()) {
    // The signal is never sent: the event stays stopped.
    const auto timer = OpenPerfTimer({gettid(), event, event.default_period, /*signal=*/0});
    if (!timer.ok()) continue;
    ClosePerfTimer(timer->fd);
    if (timer->kernel_ring != nullptr) UnmapKernelRing(timer->kernel_ring);
    if (!names.empty()) names += ", ";
    names.append(event.name);
  }
  return names.empty() ? "none" : names;
}

int PerfEventParanoid() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = -1;
  return file >> level ? level : -1;
}

int PerfEventError() {
  const PerfEvent* const clock = FindPerfEvent("cpu-clock");
  const int fd = OpenEvent({gettid(), *clock, clock->default_period, /*signal=*/0}, true);
  if (fd < 0) return errno;
  ClosePerfTimer(fd);
  return 0;
}

std::string PerfEventRemedy(int error) {
  // The setting's own error. Profiles answer EPERM or ENOSYS, whatever the setting is.
  if (error == EACCES) return "sysctl kernel.perf_event_paranoid=1";
  return "let the container's seccomp profile allow perf_event_open";
}

std::chrono::nanoseconds MeasurePerfInterrupt() {
  constexpr std::chrono::microseconds kPeriod(50);
  constexpr int kTrials = 3;  // the quickest of each counts: disturbances only add
  auto plain = std::chrono::nanoseconds::max(), interrupted = plain;
  for (int i = 0; i < kTrials; ++i) {
    plain = std::min(plain, TimeFixedWork());
    // No signal is requested: the interrupts are the larger part of the cost.
    const int fd = OpenPlainClock(kPeriod);
    if (fd < 0) return std::chrono::nanoseconds(0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    interrupted = std::min(interrupted, TimeFixedWork());
    ClosePerfTimer(fd);
  }
  if (interrupted <= plain) return std::chrono::nanoseconds(0);
  return (interrupted - plain) / std::max<int64_t>(1, interrupted / kPeriod);
}

absl::StatusOr<int> StartPosixTimer(const PosixSpec& spec, void* cookie) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = spec.signal;
  event.sigev_value.sival_ptr = cookie;
  event._sigev_un._tid = spec.tid;
  int id = 0;
  if (syscall(SYS_timer_create, ThreadCpuClock(spec.tid), &event, &id) != 0) {
    return absl::ErrnoToStatus(errno, "timer_create");
  }
  itimerspec times{};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spec.interval);
  times.it_interval.tv_sec = seconds.count();
  times.it_interval.tv_nsec = (spec.interval - seconds).count();
  times.it_value = times.it_interval;
  if (syscall(SYS_timer_settime, id, 0, &times, nullptr) != 0) {
    absl::Status status = absl::ErrnoToStatus(errno, "timer_settime");
    DeletePosixTimer(id);
    return status;
  }
  return id;
}

int PosixTimerError() {
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  int id = 0;
  if (syscall(SYS_timer_create, ThreadCpuClock(gettid()), &event, &id) != 0) {
    return errno == EAGAIN ? 0 : errno;
  }
  DeletePosixTimer(id);
  return 0;
}

uint64_t ThreadCpuNanos(pid_t tid) {
  timespec time{};
  if (clock_gettime(ThreadCpuClock(tid), &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void DeletePosixTimer(int id) { syscall(SYS_timer_delete, id); }

}  // namespace jtrace::samples
