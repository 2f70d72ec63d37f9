// Colours text for a terminal by what it looks like: shares, headings, warnings, the lines of a
// tree.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "postproc/support/filter_buffer.h"

namespace jtrace::postproc {

// One line with colours: shares of 10 % and more red, of 1 % and more yellow, headings bold, what
// draws a tree dim. Reports know nothing of it; what they write holds no control characters.
std::string Coloured(std::string_view line);

// Passes lines on to `target`, coloured. What follows the last line's end is passed on by sync.
class ColourBuffer : public FilterBuffer {
 public:
  explicit ColourBuffer(std::ostream& target) : FilterBuffer(target) {}

 protected:
  void Put(std::string_view text) override;
  void PutRest() override;

 private:
  std::string line_;
};

}  // namespace jtrace::postproc
