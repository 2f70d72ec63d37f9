// The bytes of a trace: a mapped file, or text in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::postproc {

class InputFile {
 public:
  // Maps a regular file; reads anything else (a pipe, "-" for standard input) to its end.
  static absl::StatusOr<InputFile> Open(const std::string& path);
  // The same for a path that comes out of a trace: never a device or a pipe.
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

  const char* mapping_ = nullptr;
  size_t size_ = 0;
  std::string memory_;
};

}  // namespace jtrace::postproc
