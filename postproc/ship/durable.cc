#include "postproc/ship/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

absl::Status Cannot(std::string_view what, const std::string& path) {
  return absl::UnavailableError(StrCat("cannot ", what, " ", path, ": ", strerror(errno)));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status Sync(int fd, const std::string& folder) {
  // Some file systems do not sync folders.
  return fsync(fd) == 0 || errno == EINVAL ? absl::OkStatus() : Cannot("sync", folder);
}

absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Cannot("open", folder);
  const absl::Cleanup closed = [fd] { close(fd); };
  return Sync(fd, folder);
}

absl::Status WriteAll(int fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Cannot("write", path);
    content.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd) == 0 ? absl::OkStatus() : Cannot("write", path);
}

}  // namespace

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot make the folder ", folder, ": ", error.message()));
}

absl::Status WriteDurably(const OwnFolder& folder, const std::string& name,
                          std::string_view content) {
  const std::string path = StrCat(folder.path(), "/", name);
  const std::string part = StrCat(name, ".part");
  const int fd = openat(folder.fd(), part.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Cannot("write", path);
  absl::Status written = WriteAll(fd, path, content);
  close(fd);
  if (!written.ok()) return written;
  if (renameat(folder.fd(), part.c_str(), folder.fd(), name.c_str()) != 0) {
    return Cannot("write", path);
  }
  return Sync(folder.fd(), folder.path());
}

absl::StatusOr<std::string> MoveDurably(const std::string& from, const OwnFolder& to,
                                        const std::string& name) {
  constexpr int kMostNames = 10'000;
  for (int number = 1; number < kMostNames; ++number) {
    std::string moved = number == 1 ? name : StrCat(name, ".", number);
    bool is_moved =
        renameat2(AT_FDCWD, from.c_str(), to.fd(), moved.c_str(), RENAME_NOREPLACE) == 0;
    if (!is_moved && errno == EEXIST) continue;
    if (!is_moved && (errno == EINVAL || errno == ENOSYS)) {  // not known to the file system
      struct stat info;
      if (fstatat(to.fd(), moved.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) continue;
      is_moved = renameat(AT_FDCWD, from.c_str(), to.fd(), moved.c_str()) == 0;
    }
    if (!is_moved) return Cannot("move", StrCat(from, " to ", to.path()));
    if (absl::Status status = Sync(to.fd(), to.path()); !status.ok()) return status;
    if (absl::Status status = SyncFolder(FolderOf(from)); !status.ok()) return status;
    return moved;
  }
  return absl::UnavailableError(StrCat("cannot move ", from, ": too many files of that name"));
}

bool RemoveFile(const std::string& path) { return unlink(path.c_str()) == 0 || errno == ENOENT; }

absl::Status SyncFileSystem(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Cannot("open", folder);
  const absl::Cleanup closed = [fd] { close(fd); };
  return syncfs(fd) == 0 ? absl::OkStatus() : Cannot("write", folder);
}

}  // namespace jtrace::ship
