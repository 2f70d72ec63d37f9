#include "postproc/ship/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "postproc/ship/target_key.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

absl::Status CannotOpen(const std::string& path) {
  if (errno == ENOENT) return absl::NotFoundError(StrCat("there is no folder ", path));
  if (errno == ENOTDIR || errno == ELOOP) {
    return absl::FailedPreconditionError(
        StrCat(path, " is a link or a file: jtrace ship makes a folder there; remove it"));
  }
  return absl::UnavailableError(StrCat("cannot open the folder ", path, ": ", strerror(errno)));
}

absl::Status CheckOwner(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return CannotOpen(path);
  if (info.st_uid == geteuid() || info.st_uid == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(path, " is of another user (", info.st_uid,
             "): run jtrace ship as that user, or remove the folder"));
}

}  // namespace

OwnFolder::~OwnFolder() {
  if (fd_ >= 0) close(fd_);
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

absl::StatusOr<OwnFolder> OwnFolder::Open(const std::string& folder, std::string_view below,
                                          bool makes) {
  int fd = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return CannotOpen(folder);
  std::string path = folder;
  while (!below.empty()) {
    const std::string name(below.substr(0, below.find('/')));
    below.remove_prefix(std::min(below.size(), name.size() + 1));
    path = StrCat(path, "/", name);
    const int parent = fd;
    const absl::Cleanup closed = [parent] { close(parent); };
    if (makes && mkdirat(parent, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return absl::UnavailableError(StrCat("cannot make the folder ", path, ": ", strerror(errno)));
    }
    fd = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return CannotOpen(path);
    if (absl::Status status = CheckOwner(fd, path); !status.ok()) {
      close(fd);
      return status;
    }
  }
  return OwnFolder(fd, std::move(path));
}

absl::StatusOr<OwnFolder> OwnFolder::Make(const std::string& folder, std::string_view below) {
  return Open(folder, below, true);
}

absl::StatusOr<OwnFolder> OwnFolder::Find(const std::string& folder, std::string_view below) {
  return Open(folder, below, false);
}

std::vector<std::string> OwnFolder::Names() const {
  std::vector<std::string> names;
  const int fd = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const opened = fd < 0 ? nullptr : fdopendir(fd);
  if (opened == nullptr) {
    if (fd >= 0) close(fd);
    return names;
  }
  const absl::Cleanup closed = [opened] { closedir(opened); };
  while (const dirent* const entry = readdir(opened)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

bool OwnFolder::Remove(const std::string& name) const {
  return unlinkat(fd_, name.c_str(), 0) == 0 || errno == ENOENT;
}

std::string NoteName(const std::string& name) {
  constexpr size_t kLongest = 240;
  return name.size() <= kLongest ? name : TargetKey("long", name);
}

}  // namespace jtrace::ship
