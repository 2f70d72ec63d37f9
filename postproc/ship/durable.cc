#include "postproc/ship/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

absl::Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Cannot("open", folder);
  const absl::Cleanup closed = [fd] { close(fd); };
  // Some file systems do not sync folders.
  if (fsync(fd) != 0 && errno != EINVAL) return Cannot("sync", folder);
  return absl::OkStatus();
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

absl::Status WriteDurably(const std::string& path, std::string_view content) {
  const std::string part = StrCat(path, ".part");
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return Cannot("write", path);
  absl::Status written = WriteAll(fd, path, content);
  close(fd);
  if (!written.ok()) return written;
  if (rename(part.c_str(), path.c_str()) != 0) return Cannot("write", path);
  return SyncFolder(FolderOf(path));
}

absl::Status MoveDurably(const std::string& from, const std::string& to) {
  constexpr int kMostNames = 10'000;
  for (int number = 1; number < kMostNames; ++number) {
    const std::string name = number == 1 ? to : StrCat(to, ".", number);
    const bool is_free =
        renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0;
    if (!is_free && errno == EEXIST) continue;
    const bool is_old = !is_free && (errno == EINVAL || errno == ENOSYS);
    if (!is_free && !(is_old && rename(from.c_str(), name.c_str()) == 0)) {
      return Cannot("move", from);
    }
    if (absl::Status status = SyncFolder(FolderOf(name)); !status.ok()) return status;
    return SyncFolder(FolderOf(from));
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
