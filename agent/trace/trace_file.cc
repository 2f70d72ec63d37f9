#include "agent/trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "agent/base/agent_file.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

constexpr int kCompressionLevel = 3;

void PutU32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

// Inserts `infix` before the ending of the file's name, or after a name without one.
std::string WithInfix(absl::string_view path, absl::string_view infix) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool has_ending = dot != absl::string_view::npos && dot != 0 &&
                          (slash == absl::string_view::npos || dot > slash + 1);
  if (!has_ending) return absl::StrCat(path, infix);
  return absl::StrCat(path.substr(0, dot), infix, path.substr(dot));
}

// A pipe without a reader fails at once instead of blocking the program.
constexpr int kOpenFlags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

struct Opened {
  AgentFd fd;  // none: errno says why; EWOULDBLOCK if another process holds the file
  bool is_new = false;
};

// Closes the file if another process has locked it. Some file systems have no locks: no error.
void Lock(AgentFd& fd) {
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  const int saved = errno;
  fd = AgentFd();
  errno = saved;
}

Opened OpenLocked(const std::string& path) {
  Opened opened;
  opened.fd = AgentFd(open(path.c_str(), kOpenFlags | O_CREAT | O_EXCL, 0600));
  opened.is_new = opened.fd.ok();
  if (!opened.is_new && errno == EEXIST) opened.fd = AgentFd(open(path.c_str(), kOpenFlags));
  if (opened.fd.ok()) Lock(opened.fd);
  return opened;
}

absl::Status MakeEmpty(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (S_ISCHR(info.st_mode)) return absl::OkStatus();
  if (fchmod(fd, 0600) != 0) return absl::ErrnoToStatus(errno, "fchmod");
  if (ftruncate(fd, 0) != 0) return absl::ErrnoToStatus(errno, "ftruncate");
  return absl::OkStatus();
}

// Times that room is made for one write, while others fill the disk as well.
constexpr int kMaxTries = 8;

bool IsDiskFull(int error) { return error == ENOSPC || error == EDQUOT; }

absl::Status CannotWrite(absl::string_view path, absl::string_view why) {
  return absl::PermissionDeniedError(
      absl::StrCat("cannot write '", path, "': ", why, "; choose another file with out=FILE"));
}

absl::Status CannotOpen(absl::string_view path, int error) {
  const absl::Status status = CannotWrite(path, OpenErrorText(error));
  return IsDiskFull(error) ? absl::ResourceExhaustedError(status.message()) : status;
}

}  // namespace

std::string ExpandPath(absl::string_view pattern, int64_t pid, int64_t now_unix_s, int number) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || next == '\0') {
      out.push_back(pattern[i]);
      continue;
    }
    ++i;
    if (next == 'p') {
      absl::StrAppend(&out, pid);
    } else if (next == 't') {
      out += absl::FormatTime("%Y%m%d-%H%M%S", absl::FromUnixSeconds(now_unix_s),
                              absl::LocalTimeZone());
    } else if (next == 'n') {
      absl::StrAppend(&out, number);
    } else if (const size_t close = pattern.find('}', i);
               next == '{' && close != absl::string_view::npos) {
      const char* value = getenv(std::string(pattern.substr(i + 1, close - i - 1)).c_str());
      // A variable that is not set stays in the name, which then shows the cause.
      absl::StrAppend(&out, value != nullptr ? value : pattern.substr(i - 1, close - i + 2));
      i = close;
    } else if (next == '%') {
      out.push_back('%');
    } else {
      out.push_back('%');
      out.push_back(next);
    }
  }
  return out;
}

std::string NumberedPattern(absl::string_view pattern) {
  return absl::StrContains(pattern, "%n") ? std::string(pattern) : WithInfix(pattern, ".%n");
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::Open(std::string path) {
  Opened opened = OpenLocked(path);
  if (!opened.fd.ok() && errno == EWOULDBLOCK) {
    path = WithInfix(path, absl::StrCat(".", getpid()));
    opened = OpenLocked(path);
  }
  if (!opened.fd.ok()) return CannotOpen(path, errno);
  if (const absl::Status own = CheckAgentFile(opened.fd.get()); !own.ok()) {
    return CannotWrite(path, own.message());
  }
  return std::unique_ptr<TraceFile>(
      new TraceFile(std::move(opened.fd), opened.is_new, std::move(path)));
}

absl::Status TraceFile::Begin() {
  if (const absl::Status empty = MakeEmpty(fd_.get()); !empty.ok()) {
    return CannotWrite(path_, empty.message());
  }
  begun_ = true;
  std::string header(format::kMagic.begin(), format::kMagic.end());
  PutU32(header, format::kVersion);
  return WriteAll(header);
}

absl::StatusOr<std::unique_ptr<TraceFile>> TraceFile::Create(std::string path) {
  auto file = Open(std::move(path));
  if (!file.ok()) return file.status();
  if (absl::Status status = (*file)->Begin(); !status.ok()) return status;
  return file;
}

TraceFile::TraceFile(AgentFd fd, bool is_new, std::string path)
    : fd_(std::move(fd)), is_new_(is_new), path_(std::move(path)), compressor_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(compressor_, ZSTD_c_compressionLevel, kCompressionLevel);
}

TraceFile::~TraceFile() {
  ZSTD_freeCCtx(compressor_);
  if (is_new_ && !begun_) unlink(path_.c_str());
}

// Opens the file again after the program has closed the descriptor, and continues at its end.
absl::Status TraceFile::Reopen() {
  AgentFd again(open(path_.c_str(), kOpenFlags));
  if (again.ok()) Lock(again);
  if (!again.SameFile(fd_) || lseek(again.get(), 0, SEEK_END) < 0) {
    return absl::AbortedError(
        absl::StrCat("cannot write '", path_, "': the program closed it, and it is gone"));
  }
  fd_ = std::move(again);
  return absl::OkStatus();
}

// Called before each write, because the write after a truncation restores the file's size.
void TraceFile::DetectTruncation() {
  struct stat now;
  if (fstat(fd_.get(), &now) != 0 || !S_ISREG(now.st_mode)) return;
  const auto size = static_cast<uint64_t>(now.st_size);
  if (size < bytes_written()) bytes_cut_ = std::max(bytes_cut_, bytes_written() - size);
}

absl::Status TraceFile::CheckKept() const {
  struct stat ours;
  struct stat there;
  if (fstat(fd_.get(), &ours) != 0 || !S_ISREG(ours.st_mode)) return absl::OkStatus();
  const auto size = static_cast<uint64_t>(ours.st_size);
  const uint64_t cut = std::max(bytes_cut_, bytes_written() - std::min(size, bytes_written()));
  if (ours.st_nlink == 0) {
    return absl::DataLossError(
        absl::StrCat("'", path_, "' was removed while it was written: nothing of the recording is ",
                     "left; record again with an out=FILE that nothing removes"));
  }
  if (cut != 0) {
    return absl::DataLossError(
        absl::StrCat("'", path_, "' was made shorter while it was written: ", cut, " of ",
                     bytes_written(), " bytes are lost, and what is left may not be readable; ",
                     "record again with an out=FILE that nothing else writes"));
  }
  if (stat(path_.c_str(), &there) != 0 || there.st_dev != ours.st_dev ||
      there.st_ino != ours.st_ino) {
    return absl::DataLossError(absl::StrCat(
        "'", path_, "' was moved while it was written, or another file was put in its ",
        "place: the complete recording is where it was moved to"));
  }
  return absl::OkStatus();
}

absl::Status TraceFile::WriteAll(absl::string_view data) {
  if (!fd_.IsOurs()) failed_ = Reopen();
  if (!failed_.ok()) return failed_;
  DetectTruncation();
  int tries = 0;
  while (!data.empty()) {
    const ssize_t n = write(fd_.get(), data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      if (IsDiskFull(error) && make_room_ && tries++ < kMaxTries && make_room_(data.size())) {
        continue;
      }
      failed_ = absl::ResourceExhaustedError(
          absl::StrCat("cannot write '", path_, "': ", strerror(error)));
      return failed_;
    }
    bytes_written_ += static_cast<uint64_t>(n);
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status TraceFile::Append(absl::string_view payload) {
  if (!failed_.ok()) return failed_;
  if (payload.size() > format::kMaxPayloadSize) {
    return absl::InvalidArgumentError("chunk larger than a frame may be");
  }
  const size_t bound = ZSTD_compressBound(payload.size());
  buffer_.resize(format::kFrameHeaderSize + bound);
  const size_t size = ZSTD_compress2(compressor_, buffer_.data() + format::kFrameHeaderSize, bound,
                                     payload.data(), payload.size());
  if (ZSTD_isError(size)) return absl::InternalError(ZSTD_getErrorName(size));
  const auto* body = reinterpret_cast<const Bytef*>(buffer_.data() + format::kFrameHeaderSize);
  std::string header;
  PutU32(header, format::kFrameMark);
  PutU32(header, static_cast<uint32_t>(size));
  PutU32(header, static_cast<uint32_t>(payload.size()));
  PutU32(header, static_cast<uint32_t>(crc32(crc32(0, nullptr, 0), body, static_cast<uInt>(size))));
  buffer_.replace(0, header.size(), header);
  return WriteAll(absl::string_view(buffer_.data(), format::kFrameHeaderSize + size));
}

}  // namespace jtrace::trace
