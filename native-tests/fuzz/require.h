// Checks for fuzz targets.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace jtrace::fuzz {

// Aborts, in every build, if an invariant does not hold; shows its source line.
inline void Require(bool condition, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: this does not hold\n", file, line);
  std::abort();
}

inline std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A form of inputs: their first byte, and the check of the bytes after it.
struct Form {
  char byte;
  void (*check)(std::string_view input);
};

inline void CheckByForm(std::string_view input, std::initializer_list<Form> forms) {
  for (const Form& form : forms) {
    if (input.starts_with(form.byte)) form.check(input.substr(1));
  }
}

// `text`: a string, or a string view of either library.
template <typename Text>
bool IsOneLine(const Text& text) {
  return !text.empty() && text.find('\n') == Text::npos;
}

// Removes and returns a part of an input up to a 0 byte or its end; the byte is removed too.
inline std::string_view TakePart(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(part.size() < input.size() ? part.size() + 1 : part.size());
  return part;
}

// A file without a name, for code that opens paths: the input must not choose which one. It exists
// as long as the process.
class NamelessFile {
 public:
  NamelessFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) { Require(fd_ >= 0); }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void Hold(std::string_view content) const {
    Require(ftruncate(fd_, 0) == 0);
    Require(pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  }

 private:
  const int fd_;
};

}  // namespace jtrace::fuzz
