#include "postproc/cli/folder_swap.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using postproc::StrCat;

constexpr char kNew[] = "_new";
constexpr char kMerged[] = "_merged";

absl::Status Failed(std::string_view what, const fs::path& path) {
  return absl::UnavailableError(StrCat("cannot ", what, " ", path.string(), ": ", strerror(errno)));
}

// So that the exchange is not on the disk before what it exchanges.
absl::Status Sync(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed("open", path);
  const absl::Cleanup close_it = [fd] { close(fd); };
  return fsync(fd) == 0 ? absl::OkStatus() : Failed("write", path);
}

absl::Status WriteNote(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out.good() ? Sync(file) : Failed("write", file);
}

absl::Status Exchange(const fs::path& one, const fs::path& other) {
  // glibc's function is younger than the systems that jtrace runs on.
  if (syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) !=
      0) {
    return absl::FailedPreconditionError(
        StrCat("this file system cannot exchange two folders (", strerror(errno),
               "): ", one.string(), " stays as it is; copy the folder of tables to a local disk"));
  }
  if (absl::Status status = Sync(one.parent_path()); !status.ok()) return status;
  return Sync(other.parent_path());
}

std::vector<FileFacts> ReadMerged(const fs::path& folder) {
  std::vector<FileFacts> files;
  std::ifstream in(folder / kMerged);
  for (std::string line; std::getline(in, line);) {
    FileFacts& file = files.emplace_back();
    std::istringstream fields(line);
    fields >> file.size >> file.changed_ns >> file.inode;
    fields.ignore();
    std::getline(fields, file.name);
  }
  return files;
}

// `_new` last: while it is there, the folder is known for what it is.
absl::Status RemoveFolder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kNew) files.push_back(it->path());
  }
  for (const fs::path& file : files) {
    if (!error) fs::remove(file, error);
  }
  if (!error) fs::remove_all(folder, error);
  return error ? absl::UnavailableError(
                     StrCat("cannot remove ", folder.string(), ": ", error.message()))
               : absl::OkStatus();
}

// What was written into the new contents while they were in place.
absl::Status MoveLateFiles(const fs::path& current, const fs::path& spare) {
  const absl::StatusOr<std::vector<FileFacts>> files = FilesOf(spare);
  if (!files.ok()) return files.status();
  for (const FileFacts& file : *files) {
    if (file.name.starts_with(kMergedFile)) continue;
    std::error_code error;
    fs::rename(spare / file.name, current / file.name, error);
    if (error)
      return absl::UnavailableError(
          StrCat("cannot move ", (spare / file.name).string(), ": ", error.message()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<FileFacts>> FilesOf(const fs::path& folder) {
  std::vector<FileFacts> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat facts = {};
    if (name.starts_with('_') || lstat(it->path().c_str(), &facts) != 0) continue;
    files.push_back({name, static_cast<uint64_t>(facts.st_size),
                     int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec,
                     facts.st_ino});
  }
  if (error)
    return absl::UnavailableError(StrCat("cannot read ", folder.string(), ": ", error.message()));
  std::sort(files.begin(), files.end(),
            [](const FileFacts& a, const FileFacts& b) { return a.name < b.name; });
  return files;
}

absl::Status BeginSwap(const fs::path& current, const fs::path& spare) {
  std::error_code error;
  // Of an earlier swap that was killed at its very end.
  fs::remove(current / kNew, error);
  fs::create_directories(spare, error);
  if (error)
    return absl::UnavailableError(StrCat("cannot make ", spare.string(), ": ", error.message()));
  return WriteNote(spare / kNew, "");
}

absl::Status Swap(const fs::path& current, const fs::path& spare,
                  const std::vector<FileFacts>& merged) {
  std::string list;
  for (const FileFacts& file : merged) {
    postproc::StrAppend(&list, file.size, " ", file.changed_ns, " ", file.inode, " ", file.name,
                        "\n");
  }
  if (absl::Status status = WriteNote(spare / kMerged, list); !status.ok()) return status;
  const absl::StatusOr<std::vector<FileFacts>> files = FilesOf(spare);
  if (!files.ok()) return files.status();
  for (const FileFacts& file : *files) {
    if (absl::Status status = Sync(spare / file.name); !status.ok()) return status;
  }
  if (absl::Status status = Sync(spare); !status.ok()) return status;
  return Exchange(current, spare);
}

absl::StatusOr<bool> FinishSwap(const fs::path& current, const fs::path& spare) {
  std::error_code error;
  if (!fs::exists(spare / kNew, error)) {
    const absl::StatusOr<std::vector<FileFacts>> before = FilesOf(spare);
    if (!before.ok()) return before.status();
    const std::vector<FileFacts> merged = ReadMerged(current);
    const bool is_as_read = std::all_of(before->begin(), before->end(), [&](const FileFacts& file) {
      return std::find(merged.begin(), merged.end(), file) != merged.end();
    });
    if (is_as_read) {
      if (absl::Status status = RemoveFolder(spare); !status.ok()) return status;
      fs::remove(current / kNew, error);
      return true;
    }
    if (absl::Status status = Exchange(current, spare); !status.ok()) return status;
  }
  if (absl::Status status = MoveLateFiles(current, spare); !status.ok()) return status;
  if (absl::Status status = RemoveFolder(spare); !status.ok()) return status;
  return false;
}

}  // namespace jtrace::control
