// A stream buffer that changes what is written to it and passes it on.
#pragma once

#include <ostream>
#include <streambuf>
#include <string_view>

namespace jtrace::postproc {

// Nothing is held back except by a derived class itself.
class FilterBuffer : public std::streambuf {
 protected:
  explicit FilterBuffer(std::ostream& target) : target_(target) {}

  // Writes the changed text to the target.
  virtual void Put(std::string_view text) = 0;
  // Writes the text held back.
  virtual void PutRemainder() {}
  std::ostream& target() { return target_; }

  int_type overflow(int_type byte) final {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char character = traits_type::to_char_type(byte);
    Put({&character, 1});
    return target_ ? byte : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) final {
    Put({text, static_cast<size_t>(size)});
    return target_ ? size : 0;
  }
  int sync() final {
    PutRemainder();
    target_.flush();
    return target_ ? 0 : -1;
  }

 private:
  std::ostream& target_;
};

}  // namespace jtrace::postproc
