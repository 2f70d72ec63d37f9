// Keeps what a trace's names hold from steering the reader's terminal.
#pragma once

#include <ostream>
#include <string_view>

#include "postproc/support/filter_buffer.h"

namespace jtrace::postproc {

// Passes UTF-8 text on to `target` with '?' in place of each byte of a control character (C0 but
// the line feed, DEL, C1). Thread names, command lines and class names may hold any.
class PrintableBuffer : public FilterBuffer {
 public:
  explicit PrintableBuffer(std::ostream& target) : FilterBuffer(target) {}

 protected:
  void Put(std::string_view text) override;

 private:
  bool after_lead_ = false;  // the last byte was 0xC2, which begins C1's characters; not passed yet
};

}  // namespace jtrace::postproc
