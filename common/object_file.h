// The bytes of a library or program, mapped for reading.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// Immutable: any thread. Only for files that nobody shortens while they are mapped (libraries and
// programs that run): a read past the new end would be a SIGBUS.
class ObjectFile {
 public:
  // A file that cannot be read has no content.
  explicit ObjectFile(const std::string& path);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  std::string_view content() const { return content_; }

 private:
  std::string_view content_;
};

}  // namespace jtrace
