// A file's bytes in memory, without reading them all, that stay readable if the file shrinks.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace jtrace::postproc {

// A page of a mapping that the file no longer has, or that cannot be read from the disk, raises
// SIGBUS. A handler of this process maps pages of zeros there, from that page to the mapping's end,
// and records it. Other SIGBUS are passed to the previous handler. Content may change while it is
// read, as long as the file may.
class MappedFile {
 public:
  // Maps the first `size` bytes, at least one; `fd` may be closed then. None if that fails.
  static std::optional<MappedFile> Map(int fd, size_t size);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view content() const { return {begin_, size_}; }
  // Whether bytes of it were found missing so far.
  bool has_lost_pages() const;

 private:
  MappedFile() = default;

  const char* begin_ = nullptr;
  size_t size_ = 0;
  size_t slot_ = 0;  // in the handler's table
};

}  // namespace jtrace::postproc
