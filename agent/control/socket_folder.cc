#include "agent/control/socket_folder.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace jtrace::control {
namespace {

// The error if the file system does not let us make `path`.
absl::Status NotMade(int error, absl::string_view path) {
  return absl::Status(absl::ErrnoToStatusCode(error),
                      absl::StrCat("cannot make ", path, ": ", strerror(error),
                                   "; mount a writable /tmp, or use control=off"));
}

absl::StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("socket path too long: ", path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

bool SomebodyListens(const sockaddr_un& address) {
  const AgentFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // EAGAIN: a process listens, and its backlog is full.
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
         errno == EAGAIN;
}

}  // namespace

absl::Status OwnFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return NotMade(errno, folder);
  }
  struct stat info = {};
  if (lstat(folder.c_str(), &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot look at ", folder));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 0077) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(folder, " is not a folder of only this user; remove it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<AgentFd> ListenAt(const std::string& path) {
  const auto address = AddressOf(path);
  if (!address.ok()) return address.status();
  AgentFd server(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!server.ok()) return absl::ErrnoToStatus(errno, "no socket");
  if (SomebodyListens(*address)) {
    return absl::AlreadyExistsError(
        absl::StrCat("another jtrace listens at ", path,
                     "; give each container its own /tmp, or use control=off"));
  }
  unlink(path.c_str());
  if (bind(server.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    return NotMade(errno, path);
  }
  // Until the chmod, the folder's mode keeps others out.
  constexpr int kBacklog = 16;
  if (chmod(path.c_str(), 0600) != 0 || listen(server.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot listen at ", path));
  }
  return server;
}

void RemoveStaleSockets(const std::string& folder) {
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* const entry = readdir(entries)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid) || pid <= 0) continue;
    if (kill(pid, 0) == 0 || errno != ESRCH) continue;
    const std::string path = absl::StrCat(folder, "/", entry->d_name);
    struct stat info = {};
    if (lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode) || info.st_uid != geteuid()) {
      continue;
    }
    const auto address = AddressOf(path);
    if (address.ok() && !SomebodyListens(*address)) unlink(path.c_str());
  }
  closedir(entries);
}

bool IsPeerAllowed(int connection) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

}  // namespace jtrace::control
