#include "postproc/live/process_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace jtrace::live {
namespace {

using boost::system::error_code;

// Without a wrapper in the C library that the products are for.
int OpenProcess(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  constexpr long kPidfdOpen = 434;  // the same on all architectures
  return static_cast<int>(syscall(kPidfdOpen, pid, 0));
#endif
}

}  // namespace

ProcessEnd::ProcessEnd(boost::asio::io_context& context, pid_t pid, std::function<void()> ended)
    : pid_(pid), ended_(std::move(ended)), descriptor_(context), timer_(context) {
  const int fd = OpenProcess(pid);
  if (fd < 0) {
    Look();
    return;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  descriptor_.assign(fd);
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](error_code error) {
                           if (!error) ended_();
                         });
}

void ProcessEnd::Look() {
  timer_.expires_after(std::chrono::seconds(1));
  timer_.async_wait([this](error_code error) {
    if (error) return;
    if (kill(pid_, 0) != 0 && errno == ESRCH) return ended_();
    Look();
  });
}

}  // namespace jtrace::live
