// Whether the kernel gives software events of perf here, without jtrace's code: so a test is
// skipped only for what is missing.
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

}  // namespace jtrace::testing
