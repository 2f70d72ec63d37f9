#include "agent/samples/posix_timer.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/clock.h"

namespace jtrace::samples {

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
  const timespec interval = absl::ToTimespec(spec.interval);
  const itimerspec times = {.it_interval = interval, .it_value = interval};
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

void DeletePosixTimer(int id) { syscall(SYS_timer_delete, id); }

}  // namespace jtrace::samples
