#include "agent/samples/posix_timer.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "agent/base/perf_event.h"
#include "gtest/gtest.h"

namespace jtrace::samples {
namespace {

// From now on the system call fails in this process, as a container's profile makes it fail.
void Forbid(int number, int error) {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(code), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    _exit(2);
  }
}

TEST(TimersTest, ReportsTheErrorOfAForbiddenCall) {
  for (int error : {EPERM, ENOSYS}) {
    EXPECT_EXIT(
        {
          Forbid(SYS_perf_event_open, error);
          Forbid(SYS_timer_create, error);
          _exit(PerfEventError() == error && PosixTimerError() == error ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
  }
}

TEST(TimersTest, PosixTimersAreNotForbiddenHere) { EXPECT_EQ(PosixTimerError(), 0); }

}  // namespace
}  // namespace jtrace::samples
