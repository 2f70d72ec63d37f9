// Colours text for a terminal by its appearance: shares, headings, warnings, the lines of a tree.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "postproc/support/filter_buffer.h"

namespace jtrace::postproc {

// One line with colours: shares of 10 % and more red, of 1 % and more yellow, headings bold, the
// lines of a tree dim. Reports know nothing of it; their text contains no control characters.
std::string Coloured(std::string_view line);

// Passes lines on to `target`, coloured. sync passes on the text after the last line's end.
class ColourBuffer : public FilterBuffer {
 public:
  explicit ColourBuffer(std::ostream& target) : FilterBuffer(target) {}

 protected:
  void Put(std::string_view text) override;
  void PutRemainder() override;

 private:
  std::string line_;
};

}  // namespace jtrace::postproc
