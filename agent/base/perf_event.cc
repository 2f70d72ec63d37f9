#include "agent/base/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/base/agent_file.h"
#include "agent/base/clock.h"
#include "agent/base/perf_ring.h"

namespace jtrace {
namespace {

// Measures the CPU time of a fixed amount of work, about a fifth of a millisecond on current
// hardware. A start of a recording does it at most six times.
absl::Duration TimeFixedWork() {
  constexpr int kRounds = 200'000;
  uint64_t value = 1;
  const uint64_t begin_ns = CurrentThreadCpuNanos();
  for (int i = 0; i < kRounds; ++i) {
    value *= 0x9e37'79b9'7f4a'7c15;
    asm volatile("" : "+r"(value));  // keeps every product
  }
  return absl::Nanoseconds(CurrentThreadCpuNanos() - begin_ns);
}

// Opens a stopped event. Returns its descriptor, or -1 and sets errno.
int OpenEvent(const PerfEventSpec& spec, bool with_kernel) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = spec.event.type;
  attributes.config = spec.event.config;
  // On kernels where a clock is stopped by hand, cpu-clock's count is wrong (perf_event_table.h).
  if (spec.event.is_clock && spec.stop == signal_safe::PerfStopMode::kByHandler) {
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
  return MoveToHighFd(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, spec.tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// Opens the calling thread's CPU clock, stopped and without call chains; -1 if it is unavailable.
int OpenPlainClock(absl::Duration period) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = static_cast<uint64_t>(absl::ToInt64Nanoseconds(period));
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

absl::Status SendSignalsTo(int fd, const PerfEventSpec& spec) {
  const f_owner_ex owner{F_OWNER_TID, spec.tid};
  if (fcntl(fd, F_SETSIG, spec.signal) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
      fcntl(fd, F_SETFL, O_ASYNC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot direct a perf event's signals");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedPerfEvent> OpenPerfEvent(const PerfEventSpec& spec) {
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
  if (!with_kernel) return OpenedPerfEvent{fd, nullptr};
  void* const ring = mmap(nullptr, PerfRing::MappedBytes(kKernelRingBytes), PROT_READ | PROT_WRITE,
                          MAP_SHARED, fd, 0);
  return OpenedPerfEvent{fd, ring != MAP_FAILED ? ring : nullptr};
}

void UnmapPerfRing(void* ring) { munmap(ring, PerfRing::MappedBytes(kKernelRingBytes)); }

bool IsPerfEvent(int fd) {
  constexpr std::string_view kPerfEvent = "anon_inode:[perf_event]";
  char target[64];
  const ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), target, sizeof target);
  return size >= 0 && std::string_view(target, static_cast<size_t>(size)) == kPerfEvent;
}

void ClosePerfEvent(int fd) {
  if (!IsPerfEvent(fd)) return;
  ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  close(fd);
}

std::string AvailablePerfEvents() {
  std::string names;
  for (const PerfEvent& event : PerfEvents()) {
    // The signal is never sent: the event stays stopped.
    const auto timer = OpenPerfEvent({gettid(), event, event.default_period, /*signal=*/0});
    if (!timer.ok()) continue;
    ClosePerfEvent(timer->fd);
    if (timer->kernel_ring != nullptr) UnmapPerfRing(timer->kernel_ring);
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
  ClosePerfEvent(fd);
  return 0;
}

std::string PerfEventRemedy(int error, int paranoid) {
  // perf_event_paranoid answers EACCES. Seccomp profiles answer EPERM or ENOSYS, whatever it is.
  if (error == EACCES) return absl::StrCat("sysctl kernel.perf_event_paranoid=", paranoid);
  return "let the container's seccomp profile allow perf_event_open";
}

absl::Duration MeasurePerfInterrupt() {
  constexpr absl::Duration kPeriod = absl::Microseconds(50);
  constexpr int kTrials = 3;  // the quickest of each counts: disturbances only add
  absl::Duration plain = absl::InfiniteDuration(), interrupted = plain;
  for (int i = 0; i < kTrials; ++i) {
    plain = std::min(plain, TimeFixedWork());
    // No signal is requested: the interrupts are the larger part of the cost.
    const int fd = OpenPlainClock(kPeriod);
    if (fd < 0) return absl::ZeroDuration();
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    interrupted = std::min(interrupted, TimeFixedWork());
    ClosePerfEvent(fd);
  }
  if (interrupted <= plain) return absl::ZeroDuration();
  absl::Duration rest;
  return (interrupted - plain) /
         std::max<int64_t>(1, absl::IDivDuration(interrupted, kPeriod, &rest));
}

}  // namespace jtrace
