// Keeps the content of a trace's names from controlling the reader's terminal.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "postproc/support/filter_buffer.h"

namespace jtrace::postproc {

// Passes UTF-8 text on to `target`; characters that a terminal would obey, and invalid UTF-8, in a
// visible form (VisibleLines). Thread names, command lines and class names may contain anything.
// Line feeds are the text's own: names are made one line before they get here (Printable).
class PrintableBuffer : public FilterBuffer {
 public:
  explicit PrintableBuffer(std::ostream& target) : FilterBuffer(target) {}

 protected:
  void Put(std::string_view text) override;
  void PutRemainder() override;

 private:
  std::string cut_;  // the beginning of a character whose rest has not arrived yet
};

}  // namespace jtrace::postproc
