#include "agent/base/agent_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace jtrace {
namespace {

constexpr char kNoFile[] = "it is not a file";

// Above the numbers that small programs have open at once, and below 64: the kernel's table has so
// many entries at first, and to make it larger takes 10 to 20 ms in a process with threads (Linux
// waits for an RCU grace period). That was a third of the agent's time to start.
constexpr rlim_t kFirstHighNumber = 40;

}  // namespace

absl::Status CheckAgentFile(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (S_ISCHR(info.st_mode)) return absl::OkStatus();  // /dev/null
  if (!S_ISREG(info.st_mode)) return absl::PermissionDeniedError(kNoFile);
  if (info.st_uid != geteuid()) return absl::PermissionDeniedError("it belongs to another user");
  if (info.st_nlink != 1) return absl::PermissionDeniedError("it has a second name (a hard link)");
  return absl::OkStatus();
}

std::string OpenErrorText(int error) {
  if (error == ENXIO) return kNoFile;  // a pipe without a reader, or a socket
  if (error == ELOOP) return "it is a symbolic link";
  return strerror(error);
}

int MoveToHighFd(int fd) {
  if (fd < 0) return fd;
  const int saved = errno;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t first = std::min(kFirstHighNumber, limit.rlim_cur / 2);
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(first));
  if (high >= 0) close(fd);
  errno = saved;
  return high >= 0 ? high : fd;
}

AgentFd::AgentFd(int fd) : fd_(MoveToHighFd(fd)) {
  struct stat info = {};
  if (fd_ < 0 || fstat(fd_, &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

AgentFd::AgentFd(AgentFd&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), device_(other.device_), inode_(other.inode_) {}

AgentFd& AgentFd::operator=(AgentFd&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

AgentFd::~AgentFd() {
  if (IsOurs()) close(fd_);
}

bool AgentFd::IsOurs() const {
  struct stat info = {};
  return fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

bool AgentFd::SameFile(const AgentFd& other) const {
  return ok() && other.ok() && device_ == other.device_ && inode_ == other.inode_;
}

}  // namespace jtrace
