// The bytes of a trace: a mapped file, or text in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "postproc/support/mapped_file.h"

namespace jtrace::postproc {

class InputFile {
 public:
  // The limit for a pipe, whose content is kept in memory.
  static constexpr uint64_t kMostStreamed = uint64_t{1} << 30;

  // Maps a regular file; reads a pipe, a terminal or "-" for standard input to its end, or fails
  // beyond `most_streamed` bytes. Devices are rejected: /dev/zero has no end.
  static absl::StatusOr<InputFile> Open(const std::string& path,
                                        uint64_t most_streamed = kMostStreamed);
  // For a path from a trace, which may be malicious: only a regular, non-empty file below 4 GB.
  static absl::StatusOr<InputFile> OpenRegular(const std::string& path);
  static InputFile FromMemory(std::string content);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  std::string_view content() const {
    return mapping_.has_value() ? mapping_->content() : std::string_view(memory_);
  }
  // Whether the opened file now has fewer bytes than `content`, or some could not be read. These
  // bytes are zeros then.
  bool Shrank() const;

 private:
  InputFile() = default;

  std::optional<MappedFile> mapping_;
  int fd_ = -1;  // of a trace that is mapped
  std::string memory_;
};

}  // namespace jtrace::postproc
