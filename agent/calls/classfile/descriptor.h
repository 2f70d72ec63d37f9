// Method and field descriptors (JVMS 4.3).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace jtrace::classfile {

// Reads the parameters of a method descriptor, one field descriptor at a time.
class DescriptorReader {
 public:
  explicit DescriptorReader(std::string_view descriptor) : text_(descriptor) {
    ok_ = !text_.empty() && text_[0] == '(';
  }

  // The next parameter (`I`, `[J`, `Ljava/lang/String;`), or nothing at the end or on an error.
  std::optional<std::string_view> Next() {
    if (!ok_ || at_ >= text_.size()) {
      ok_ = false;
      return std::nullopt;
    }
    if (text_[at_] == ')') return std::nullopt;
    const size_t begin = at_;
    at_ = text_.find_first_not_of('[', at_);
    if (at_ != std::string_view::npos && text_[at_] == 'L') at_ = text_.find(';', at_);
    ok_ = at_ != std::string_view::npos && text_[at_] != ')';
    if (!ok_) return std::nullopt;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // False once the descriptor has proved malformed.
  bool ok() const { return ok_; }

 private:
  std::string_view text_;
  size_t at_ = 1;
  bool ok_;
};

// The name a Class constant has for the reference type `field_descriptor`: `java/lang/String` for
// `Ljava/lang/String;`, arrays as they are.
inline std::string_view ClassNameOf(std::string_view field_descriptor) {
  if (field_descriptor.front() == '[') return field_descriptor;
  return field_descriptor.substr(1, field_descriptor.size() - 2);
}

}  // namespace jtrace::classfile
