// The bytes of a trace: a mapped file, or text in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::postproc {

class InputFile {
 public:
  // Maps a regular file; reads a pipe, a terminal or "-" for standard input to its end. Devices are
  // refused: /dev/zero has no end.
  static absl::StatusOr<InputFile> Open(const std::string& path);
  // For a path that comes out of a trace, which may have been made to harm: a regular file with
  // bytes, below 4 GB, and nothing else.
  static absl::StatusOr<InputFile> OpenRegular(const std::string& path);
  static InputFile FromMemory(std::string content);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  std::string_view content() const {
    return mapping_ != nullptr ? std::string_view(mapping_, size_) : std::string_view(memory_);
  }

 private:
  InputFile() = default;
  bool Map(int fd, size_t size);

  const char* mapping_ = nullptr;
  size_t size_ = 0;
  std::string memory_;
};

}  // namespace jtrace::postproc
