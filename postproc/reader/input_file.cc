#include "postproc/reader/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr off_t kLargestModule = off_t{1} << 32;

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string content;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, StrCat("cannot read ", path));
    content.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

// The descriptor decides, not the path: what stands there may be replaced in between.
absl::StatusOr<InputFile> InputFile::OpenRegular(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
  const absl::Cleanup close_fd = [&] { close(fd); };
  struct stat status;
  if (fstat(fd, &status) != 0) return absl::ErrnoToStatus(errno, StrCat("cannot examine ", path));
  // Files of /proc are regular, have no size, and some of them no end.
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    return absl::InvalidArgumentError(StrCat(path, " is not a file"));
  }
  if (status.st_size >= kLargestModule) {
    return absl::InvalidArgumentError(StrCat(path, " is larger than any module"));
  }
  InputFile file;
  if (!file.Map(fd, static_cast<size_t>(status.st_size))) {
    return absl::ErrnoToStatus(errno, StrCat("cannot map ", path));
  }
  return file;
}

bool InputFile::Map(int fd, size_t size) {
  void* const mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) return false;
  mapping_ = static_cast<const char*>(mapping);
  size_ = size;
  return true;
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
  const absl::Cleanup close_fd = [&] {
    if (!standard_input) close(fd);
  };
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot examine ", path));
  }
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && isatty(fd) == 0)) {
    return absl::InvalidArgumentError(StrCat(path, " is a device, not a trace"));
  }
  InputFile file;
  if (S_ISREG(status.st_mode) && status.st_size > 0 &&
      file.Map(fd, static_cast<size_t>(status.st_size))) {
    return file;
  }
  absl::StatusOr<std::string> content = ReadAll(fd, path);
  if (!content.ok()) return content.status();
  file.memory_ = *std::move(content);
  return file;
}

InputFile InputFile::FromMemory(std::string content) {
  InputFile file;
  file.memory_ = std::move(content);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      memory_(std::move(other.memory_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(memory_, other.memory_);
  return *this;
}

InputFile::~InputFile() {
  if (mapping_ != nullptr) munmap(const_cast<char*>(mapping_), size_);
}

}  // namespace jtrace::postproc
