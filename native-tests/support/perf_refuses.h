// Software events of perf without jtrace's code: whether the kernel gives them here, so that a test
// is skipped only for what is missing; and what the kernel itself counts.
#pragma once

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace jtrace::testing {

// Why the event of the calling thread is refused, in user mode if no other is allowed; "": it is
// not.
inline std::string PerfRefuses(uint64_t event, bool with_kernel = false) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = event;
  attr.disabled = 1;
  attr.exclude_kernel = with_kernel ? 0 : 1;
  const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return std::string("not verified: perf_event_open: ") + strerror(errno);
  close(static_cast<int>(fd));
  return "";
}

// The kernel's event cpu-clock of the calling thread: unlike the thread's CPU time, it has the time
// that a hypervisor took while the thread was on a processor.
class CpuClock {
 public:
  CpuClock() {
    perf_event_attr attr = {};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.exclude_kernel = 1;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  ~CpuClock() {
    if (fd_ >= 0) close(fd_);
  }
  CpuClock(const CpuClock&) = delete;
  CpuClock& operator=(const CpuClock&) = delete;

  // Since the object was made; 0 if the kernel refuses the event.
  uint64_t Nanos() const {
    uint64_t count = 0;
    return fd_ >= 0 && read(fd_, &count, sizeof count) == sizeof count ? count : 0;
  }

 private:
  int fd_;
};

}  // namespace jtrace::testing
