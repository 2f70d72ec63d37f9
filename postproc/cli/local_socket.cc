#include "postproc/cli/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "postproc/cli/root_folder.h"
#include "postproc/support/strings.h"

namespace jtrace::control {

using postproc::StrCat;

absl::StatusOr<LocalSocket> LocalSocket::Connect(const std::string& root, std::string_view path,
                                                 unsigned user,
                                                 std::chrono::milliseconds patience) {
  const absl::StatusOr<Descriptor> place = OpenInRoot(root, path, O_PATH | O_NOFOLLOW);
  if (!place.ok()) {
    return absl::NotFoundError(
        StrCat("no process listens: ", std::string(place.status().message())));
  }
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = place->path();
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::UnavailableError(StrCat("no socket: ", strerror(errno)));
  LocalSocket result(fd);
  result.LimitWaiting(patience);  // for connect, too
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EAGAIN) {
      return absl::NotFoundError(
          StrCat("no process listens at ", root, path, ": ", strerror(errno)));
    }
    return absl::DeadlineExceededError(
        StrCat("no process accepts at ", root, path, ": the JVM hangs or is stopped"));
  }
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      (peer.uid != user && peer.uid != 0)) {
    return absl::PermissionDeniedError(StrCat("another user listens at ", root, path));
  }
  return result;
}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

LocalSocket::~LocalSocket() {
  if (fd_ >= 0) close(fd_);
}

void LocalSocket::LimitWaiting(std::chrono::milliseconds patience) {
  const timeval limit = {.tv_sec = patience.count() / 1000,
                         .tv_usec = patience.count() % 1000 * 1000};
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    setsockopt(fd_, SOL_SOCKET, direction, &limit, sizeof(limit));
  }
}

absl::Status LocalSocket::Send(std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::UnavailableError(StrCat("cannot send: ", strerror(errno)));
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LocalSocket::Receive() {
  char buffer[4096];
  ssize_t n;
  do {
    n = read(fd_, buffer, sizeof(buffer));
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return absl::DeadlineExceededError("no answer: the JVM hangs or is stopped");
  }
  if (n < 0) return absl::UnavailableError(StrCat("cannot receive: ", strerror(errno)));
  return std::string(buffer, static_cast<size_t>(n));
}

}  // namespace jtrace::control
