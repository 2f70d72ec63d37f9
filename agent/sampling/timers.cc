#include "agent/sampling/timers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace jtrace::sampling {
namespace {

// The kernel's encoding of another thread's CPU clock: ~tid << 3, scheduler clock, per thread
// (include/linux/posix-timers.h). pthread_getcpuclockid needs a pthread_t, which a tid has not.
clockid_t ThreadCpuClock(pid_t tid) {
  constexpr clockid_t kPerThread = 4, kScheduled = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3) | kPerThread | kScheduled;
}

std::chrono::nanoseconds ThreadCpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// CPU time of a fixed amount of work, about half a millisecond on current hardware.
std::chrono::nanoseconds TimeFixedWork() {
  constexpr int kRounds = 500'000;
  uint64_t value = 1;
  const auto begin = ThreadCpuTime();
  for (int i = 0; i < kRounds; ++i) asm volatile("imul $3, %0, %0" : "+r"(value));
  return ThreadCpuTime() - begin;
}

// Opens a stopped event of the thread's CPU time; -1 and errno if it cannot.
int OpenCpuClock(pid_t tid, std::chrono::nanoseconds period) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<uint64_t>(period.count());
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

absl::Status SendSignalsTo(int fd, const TimerSpec& spec) {
  const f_owner_ex owner{F_OWNER_TID, spec.tid};
  if (fcntl(fd, F_SETSIG, spec.signal) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
      fcntl(fd, F_SETFL, O_ASYNC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot direct a perf event's signals");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> OpenPerfTimer(const TimerSpec& spec) {
  const int fd = OpenCpuClock(spec.tid, spec.interval);
  if (fd < 0) return absl::ErrnoToStatus(errno, "perf_event_open");
  absl::Status status = SendSignalsTo(fd, spec);
  if (!status.ok()) {
    close(fd);
    return status;
  }
  return fd;
}

void StartPerfTimer(int fd) { ioctl(fd, PERF_EVENT_IOC_REFRESH, 1); }

void ClosePerfTimer(int fd) {
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  close(fd);
}

std::chrono::nanoseconds MeasurePerfInterrupt() {
  constexpr std::chrono::microseconds kPeriod(50);
  constexpr int kTrials = 3;  // the quickest of each counts: disturbances only add
  auto plain = std::chrono::nanoseconds::max(), interrupted = plain;
  for (int i = 0; i < kTrials; ++i) {
    plain = std::min(plain, TimeFixedWork());
    // No signal is asked for: the interrupts alone are the larger part.
    const int fd = OpenCpuClock(0, kPeriod);
    if (fd < 0) return std::chrono::nanoseconds(0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    interrupted = std::min(interrupted, TimeFixedWork());
    ClosePerfTimer(fd);
  }
  if (interrupted <= plain) return std::chrono::nanoseconds(0);
  return (interrupted - plain) / std::max<int64_t>(1, interrupted / kPeriod);
}

absl::StatusOr<int> StartPosixTimer(const TimerSpec& spec, void* cookie) {
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

void DeletePosixTimer(int id) { syscall(SYS_timer_delete, id); }

}  // namespace jtrace::sampling
