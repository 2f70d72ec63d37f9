#include "agent/recording/ended_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/base/agent_file.h"
#include "agent/base/clock.h"

namespace jtrace {
namespace {

constexpr uint64_t kShareToStayFree = 20;  // a twentieth
constexpr uint64_t kMaxToStayFree = 100u << 20;

// Files are checked and removed by the folder's descriptor, so that both are the same file even if
// somebody puts a link in the folder's place.
AgentFd OpenFolder(const std::string& folder) {
  return AgentFd(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool IsGone(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

}  // namespace

EndedFiles::EndedFiles(Losses& losses, SpaceShortfall missing_space)
    : losses_(losses), missing_space_(std::move(missing_space)) {}

uint64_t EndedFiles::ReserveShortfall(const std::string& folder) {
  struct statvfs info;
  if (statvfs(folder.c_str(), &info) != 0) return 0;
  const uint64_t reserve =
      std::min(info.f_blocks * info.f_frsize / kShareToStayFree, kMaxToStayFree);
  const uint64_t free = info.f_bavail * info.f_frsize;
  return reserve - std::min(free, reserve);
}

void EndedFiles::SetKeep(const Keep& keep) {
  absl::MutexLock lock(&mutex_);
  keep_ = keep;
  // To check that many files takes about a tenth of a second.
  if (keep.on()) keep_.files = std::min(keep.files, Keep::kMaxFiles);
}

bool EndedFiles::has_keep() const {
  absl::MutexLock lock(&mutex_);
  return keep_.on();
}

// Reads the file's time after it is closed, because some file systems set it then.
bool EndedFiles::Describe(std::unique_ptr<trace::TraceFile> file, File& ended) {
  const std::string path = trace::AbsolutePath(file->path());
  const size_t name = path.rfind('/') + 1;
  ended.folder = path.substr(0, name);
  ended.name = path.substr(name);
  ended.size = file->bytes_written();
  const bool is_there = file->CheckKept().ok();
  file.reset();
  struct stat info;
  if (!is_there || lstat(path.c_str(), &info) != 0) return false;
  ended.device = info.st_dev;
  ended.inode = info.st_ino;
  ended.modified = info.st_mtim;
  return IsSame(ended, info);
}

bool EndedFiles::IsSame(const File& file, const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_dev == file.device && info.st_ino == file.inode &&
         info.st_mtim.tv_sec == file.modified.tv_sec &&
         info.st_mtim.tv_nsec == file.modified.tv_nsec &&
         static_cast<uint64_t>(info.st_size) == file.size;
}

void EndedFiles::Add(std::unique_ptr<trace::TraceFile> file) {
  File ended;
  if (!has_keep() || !Describe(std::move(file), ended)) return;
  absl::MutexLock lock(&mutex_);
  const uint64_t missing = missing_space_(ended.folder);
  bytes_ += ended.size;
  files_.push_back(std::move(ended));
  const auto is_above = [this](uint64_t) {
    mutex_.AssertHeld();
    return bytes_ > keep_.bytes || files_.size() > keep_.files;
  };
  if (!is_above(0) && missing == 0) return;
  ForgetMissing();
  const uint64_t freed = RemoveWhile(is_above).bytes;
  const Sum more = RemoveWhile([&](uint64_t bytes) { return freed + bytes < missing; });
  ReportFullDisk(more.files);
}

bool EndedFiles::MakeRoom(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  const Sum sum = RemoveWhile([bytes](uint64_t removed) { return removed < bytes; });
  ReportFullDisk(sum.files);
  return sum.files != 0;
}

EndedFiles::Sum EndedFiles::Left() {
  absl::MutexLock lock(&mutex_);
  ForgetMissing();
  return {.files = files_.size(), .bytes = bytes_};
}

EndedFiles::Sum EndedFiles::removed() const {
  absl::MutexLock lock(&mutex_);
  return removed_;
}

// Files that `jtrace ship` or a user has taken away no longer count towards keep=.
void EndedFiles::ForgetMissing() {
  std::erase_if(files_, [this](const File& file) {
    mutex_.AssertHeld();
    struct stat info;
    const bool is_there = lstat((file.folder + file.name).c_str(), &info) == 0;
    if (is_there ? IsSame(file, info) : !IsGone(errno)) return false;
    bytes_ -= file.size;
    return true;
  });
}

EndedFiles::Outcome EndedFiles::Remove(const File& file) {
  const auto failed = [this] {
    mutex_.AssertHeld();
    remove_error_ = errno;
    return IsGone(errno) ? Outcome::kNotOurs : Outcome::kFailed;
  };
  const AgentFd folder = OpenFolder(file.folder);
  if (!folder.ok()) return failed();
  const char* const name = file.name.c_str();
  const AgentFd fd(openat(folder.get(), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.ok()) return failed();
  // Some file systems have no locks.
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Outcome::kLocked;
  struct stat info;
  if (fstat(fd.get(), &info) != 0 || !IsSame(file, info)) return Outcome::kNotOurs;
  return unlinkat(folder.get(), name, 0) == 0 ? Outcome::kRemoved : failed();
}

EndedFiles::Sum EndedFiles::RemoveWhile(const std::function<bool(uint64_t bytes)>& more) {
  Sum sum;
  for (auto file = files_.begin(); file != files_.end() && more(sum.bytes);) {
    const Outcome outcome = Remove(*file);
    if (outcome == Outcome::kFailed) {
      losses_.AddNamed("loop.not_removed", Severity::kWarning,
                       absl::StrCat(file->folder, file->name, " (", strerror(remove_error_), ")"),
                       "attempts to remove an old file of loop= that failed",
                       "remove these files, or let the program's user do it");
    }
    if (outcome == Outcome::kLocked || outcome == Outcome::kFailed) {
      ++file;
      continue;
    }
    if (outcome == Outcome::kRemoved) {
      ++sum.files;
      sum.bytes += file->size;
    }
    bytes_ -= file->size;
    file = files_.erase(file);
  }
  Report(sum);
  return sum;
}

void EndedFiles::Report(const Sum& removed) {
  removed_.files += removed.files;
  removed_.bytes += removed.bytes;
  losses_.Add("loop.dropped", Severity::kInfo, removed.files,
              "old files of loop= removed, as keep= says");
  losses_.Add("loop.dropped_bytes", Severity::kInfo, removed.bytes,
              "bytes of the old files of loop= that were removed");
}

void EndedFiles::ReportFullDisk(uint64_t files) {
  losses_.Add("loop.disk_full", Severity::kWarning, files,
              "old files of loop= removed before keep= says so, because the disk is full or nearly",
              "free space, choose a smaller keep=, or another folder with out=");
}

}  // namespace jtrace
