// Says on a terminal how much was written to a file or a pipe, which may take long.
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

 protected:
  void Put(std::string_view text) override {
    constexpr uint64_t kStep = 16'000'000;
    target().write(text.data(), static_cast<std::streamsize>(text.size()));
    bytes_ += text.size();
    if (bytes_ < shown_ + kStep) return;
    shown_ = bytes_;
    terminal_ << "\rwritten: " << bytes_ / 1'000'000 << " MB" << std::flush;
  }
  void PutRemainder() override {
    if (shown_ != 0) terminal_ << "\r\x1b[K" << std::flush;
    shown_ = 0;
  }

 private:
  std::ostream& terminal_;
  uint64_t bytes_ = 0;
  uint64_t shown_ = 0;  // 0: there is no line
};

}  // namespace jtrace::postproc
