#include "postproc/ship/sealed_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <tuple>

#include "absl/cleanup/cleanup.h"
#include "postproc/support/file_lock.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

int OpenTrace(const std::string& path) {
  // A pipe of that name must not block.
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

int64_t ModifiedNs(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

bool IsOf(const SealedTrace& trace, const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_ino == trace.inode &&
         ModifiedNs(info) == trace.modified_ns && static_cast<uint64_t>(info.st_size) == trace.size;
}

// Without locks in the file system the age decides alone.
bool IsLocked(int fd) {
  if (!postproc::TakeLock(fd, LOCK_SH)) return true;
  flock(fd, LOCK_UN);
  return false;
}

// A clock that was set back must not keep a trace for ever.
bool IsSettled(const SealedTrace& trace, absl::Time now, absl::Duration settled) {
  const absl::Duration age = now - absl::FromUnixNanos(trace.modified_ns);
  return age >= settled || age < -absl::Minutes(1);
}

void Look(const std::string& folder, const std::string& name, absl::Time now,
          absl::Duration settled, FolderContents& found) {
  SealedTrace trace = {.name = name, .path = StrCat(folder, "/", name)};
  const int fd = OpenTrace(trace.path);
  if (fd < 0) {
    if (errno == EACCES) found.unreadable.push_back(trace.path);
    return;
  }
  const absl::Cleanup closed = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !BeginsAsTrace(fd)) return;
  trace.inode = info.st_ino;
  trace.modified_ns = ModifiedNs(info);
  trace.size = static_cast<uint64_t>(info.st_size);
  // The age first: the lock of a file that an agent just opens is left alone.
  if (!IsSettled(trace, now, settled) || IsLocked(fd)) {
    ++found.recording;
  } else {
    found.sealed.push_back(std::move(trace));
  }
}

}  // namespace

absl::StatusOr<FolderContents> FindTraces(const std::string& folder, absl::Time now,
                                          absl::Duration settled) {
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) {
    return absl::NotFoundError(StrCat("cannot read the folder ", folder, ": ", strerror(errno)));
  }
  const absl::Cleanup closed = [opened] { closedir(opened); };
  FolderContents found;
  while (const dirent* const entry = readdir(opened)) {
    const std::string_view name = entry->d_name;
    const bool may_be_file = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
    if (!may_be_file || name.starts_with('.') || name.ends_with(".part")) continue;
    Look(folder, std::string(name), now, settled, found);
  }
  std::sort(found.sealed.begin(), found.sealed.end(), [](const auto& a, const auto& b) {
    return std::tie(a.modified_ns, a.name) < std::tie(b.modified_ns, b.name);
  });
  return found;
}

bool IsStillThere(const SealedTrace& trace) {
  struct stat info;
  return lstat(trace.path.c_str(), &info) == 0 && IsOf(trace, info);
}

bool BeginsAsTrace(int fd) {
  std::array<char, format::kMagic.size()> begin = {};
  return pread(fd, begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         begin == format::kMagic;
}

std::unique_ptr<TraceLock> TraceLock::Take(const SealedTrace& trace) {
  const int fd = OpenTrace(trace.path);
  if (fd < 0) return nullptr;
  struct stat info;
  const bool is_free = postproc::TakeLock(fd, LOCK_EX);
  if (is_free && fstat(fd, &info) == 0 && IsOf(trace, info)) {
    return std::unique_ptr<TraceLock>(new TraceLock(fd));
  }
  close(fd);
  return nullptr;
}

TraceLock::~TraceLock() { close(fd_); }

}  // namespace jtrace::ship
