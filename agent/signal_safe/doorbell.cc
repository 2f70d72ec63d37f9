#include "agent/signal_safe/doorbell.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace jtrace::signal_safe {

constinit Doorbell writer_doorbell;

void Doorbell::Ring() {
  if (rung_.exchange(1, std::memory_order_acq_rel) != 0) return;
  const int before = errno;
  syscall(SYS_futex, &rung_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = before;
}

bool Doorbell::Wait(uint64_t timeout_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const timespec timeout = {static_cast<time_t>(timeout_ns / kSecond),
                            static_cast<long>(timeout_ns % kSecond)};
  if (rung_.exchange(0, std::memory_order_acq_rel) != 0) return true;
  syscall(SYS_futex, &rung_, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
  return rung_.exchange(0, std::memory_order_acq_rel) != 0;
}

}  // namespace jtrace::signal_safe
