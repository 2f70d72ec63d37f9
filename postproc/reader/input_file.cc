#include "postproc/reader/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr off_t kLargestModule = off_t{1} << 32;

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path, uint64_t most) {
  std::string content;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, StrCat("cannot read ", path));
    if (static_cast<uint64_t>(count) > most - content.size()) {
      return absl::ResourceExhaustedError(
          StrCat(path, " holds more than ", ByteSizeText(most),
                 ", the most that is read from an input that is not a file; "
                 "write it into a file and name that"));
    }
    content.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

// The descriptor decides, not the path: the file at the path may be replaced in between.
absl::StatusOr<InputFile> InputFile::OpenRegular(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
  const absl::Cleanup close_fd = [&] { close(fd); };
  struct stat status;
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, StrCat("cannot examine ", path));
  // Files of /proc are regular, have no size, and some have no end.
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    return absl::InvalidArgumentError(StrCat(path, " is not a file"));
  }
  if (status.st_size >= kLargestModule) {
    return absl::InvalidArgumentError(StrCat(path, " is larger than any module"));
  }
  InputFile file;
  file.mapping_ = MappedFile::Map(fd, static_cast<size_t>(status.st_size));
  if (!file.mapping_.has_value()) {
    return absl::ErrnoToStatus(errno, StrCat("cannot map ", path));
  }
  return file;
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path, uint64_t most_streamed) {
  const int fd =
      path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
  InputFile file;
  file.fd_ = fd;
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot examine ", path));
  }
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && isatty(fd) == 0)) {
    return absl::InvalidArgumentError(StrCat(path, " is a device, not a trace"));
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    file.mapping_ = MappedFile::Map(fd, static_cast<size_t>(status.st_size));
    if (file.mapping_.has_value()) return file;
  }
  absl::StatusOr<std::string> content = ReadAll(fd, path, most_streamed);
  if (!content.ok()) return content.status();
  file.memory_ = *std::move(content);
  return file;
}

InputFile InputFile::FromMemory(std::string content) {
  InputFile file;
  file.memory_ = std::move(content);
  return file;
}

bool InputFile::Shrank() const {
  if (!mapping_.has_value()) return false;
  struct stat status;
  const bool is_shorter = fd_ >= 0 && fstat(fd_, &status) == 0 &&
                          static_cast<uint64_t>(status.st_size) < mapping_->content().size();
  return is_shorter || mapping_->has_lost_pages();
}

InputFile::InputFile(InputFile&& other) noexcept
    : mapping_(std::move(other.mapping_)),
      fd_(std::exchange(other.fd_, -1)),
      memory_(std::move(other.memory_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(fd_, other.fd_);
  std::swap(memory_, other.memory_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace jtrace::postproc
