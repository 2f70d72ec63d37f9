#include "postproc/cli/root_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

// For kernels before 5.6 and filters of system calls that lack openat2: follows no links at all,
// and so stays below `root` as well.
int OpenWithoutLinks(int root, std::string_view path, int flags) {
  int folder = dup(root);
  for (const std::string_view part : postproc::Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    const bool is_last = part.data() + part.size() == path.data() + path.size();
    const int next = part == ".." ? -1
                                  : openat(folder, std::string(part).c_str(),
                                           is_last ? flags | O_NOFOLLOW | O_CLOEXEC
                                                   : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int saved = part == ".." ? EXDEV : errno;
    close(folder);
    errno = saved;
    if (next < 0 || is_last) return next;
    folder = next;
  }
  return folder;
}

int OpenBelow(int root, std::string_view path, int flags) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  // EAGAIN: a folder in the path was renamed meanwhile.
  for (int tries = 0; tries < 10; ++tries) {
    const auto fd = static_cast<int>(syscall(__NR_openat2, root, name.c_str(), &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM)) return fd;
    if (errno != EAGAIN) return OpenWithoutLinks(root, path, flags);
  }
  return -1;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

std::string Descriptor::path() const { return StrCat("/proc/self/fd/", fd_); }

std::string Descriptor::Read(size_t most) const {
  std::string content;
  char buffer[4096];
  while (content.size() < most) {
    const ssize_t n = read(fd_, buffer, std::min(sizeof buffer, most - content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    content.append(buffer, static_cast<size_t>(n));
  }
  return content;
}

absl::StatusOr<Descriptor> OpenInRoot(const std::string& root, std::string_view path, int flags) {
  const Descriptor folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Descriptor file(folder.get() < 0 ? -1 : OpenBelow(folder.get(), path, flags));
  if (file.get() < 0) {
    return absl::NotFoundError(StrCat("cannot open ", root, path, ": ", strerror(errno)));
  }
  return file;
}

absl::StatusOr<Descriptor> OpenFileOf(uid_t user, const std::string& root, std::string_view path) {
  absl::StatusOr<Descriptor> file = OpenInRoot(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.ok()) return file;
  struct stat info = {};
  if (fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != user ||
      info.st_nlink != 1) {
    return absl::PermissionDeniedError(
        StrCat(root, path, " is not a file of only the JVM's user: it is not read"));
  }
  return file;
}

}  // namespace jtrace::control
