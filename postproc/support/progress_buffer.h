// Says on a terminal how much was written to a file, which may take long.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "postproc/support/filter_buffer.h"

namespace jtrace::postproc {

// Passes all on to `target`. A line on `terminal` counts megabytes; sync removes it.
class ProgressBuffer : public FilterBuffer {
 public:
  ProgressBuffer(std::ostream& target, std::ostream& terminal)
      : FilterBuffer(target), terminal_(terminal) {}

  // Removes the line: something else is to be written to the terminal.
  void Clear() {
    if (has_line_) terminal_ << "\r\x1b[K" << std::flush;
    has_line_ = false;
  }

 protected:
  void Put(std::string_view text) override {
    constexpr uint64_t kStep = 16'000'000;
    target().write(text.data(), static_cast<std::streamsize>(text.size()));
    bytes_ += text.size();
    if (bytes_ < shown_ + kStep) return;
    shown_ = bytes_;
    has_line_ = true;
    terminal_ << "\rwritten: " << bytes_ / 1'000'000 << " MB" << std::flush;
  }
  void PutRemainder() override { Clear(); }

 private:
  std::ostream& terminal_;
  uint64_t bytes_ = 0;
  uint64_t shown_ = 0;
  bool has_line_ = false;
};

}  // namespace jtrace::postproc
