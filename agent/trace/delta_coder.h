// Numbers of a row as differences, which compress to a byte each (proto/FORMAT.md, "Trees").
#pragma once

#include <cstdint>

namespace jtrace::trace {

class DeltaCoder {
 public:
  int32_t Next(uint32_t value) {
    const auto delta = static_cast<int32_t>(value - last_);
    last_ = value;
    return delta;
  }

 private:
  uint32_t last_ = 0;
};

}  // namespace jtrace::trace
