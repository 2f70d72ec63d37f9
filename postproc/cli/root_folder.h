// Files of another process by the paths that it uses for them.
//
// Root's jtrace must not trust them: a file that the process, or another one in its container, puts
// at /tmp/… may be a link that leads elsewhere for us than for them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::control {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  // A path to the open file, whatever its name now means.
  std::string path() const;
  // The content, `most` bytes of it.
  std::string Read(size_t most) const;

 private:
  int fd_;
};

// Opens `path` as a process whose root folder is `root` would: links lead only to places below
// `root`. With O_NOFOLLOW the last part of the path is not a link. NotFound with the reason.
absl::StatusOr<Descriptor> OpenInRoot(const std::string& root, std::string_view path, int flags);

// The same for a file that `user` has written: a regular file of that user with one name.
// PermissionDenied if it is something else.
absl::StatusOr<Descriptor> OpenFileOf(uid_t user, const std::string& root, std::string_view path);

}  // namespace jtrace::control
