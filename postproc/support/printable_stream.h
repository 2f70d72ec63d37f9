// Keeps what a trace's names hold from steering the reader's terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string_view>

namespace jtrace::postproc {

// Passes UTF-8 text on to `target` with '?' in place of each byte of a control character (C0 but
// the line feed, DEL, C1). Thread names, command lines and class names may hold any.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::ostream& target) : target_(target) {}

 protected:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void Put(std::string_view text);

  std::ostream& target_;
  bool after_lead_ = false;  // the last byte was 0xC2, which begins C1's characters; not passed yet
};

}  // namespace jtrace::postproc
