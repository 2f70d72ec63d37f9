// Limits the processor time of work in the background: returns after each piece of work when the
// next may begin. Pure; the caller measures.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace jtrace {

class CpuBudget {
 public:
  // `percent`: of one processor, from 1 to 100; 100: no limit.
  explicit CpuBudget(int percent) : percent_(percent) {}

  // Returns how long to pause after a piece that took `elapsed`, and `cost` of processor time
  // meanwhile. Time in which a piece waited itself, for a processor or a safepoint, counts as rest.
  absl::Duration PauseAfter(absl::Duration elapsed, absl::Duration cost) const {
    if (percent_ >= 100) return absl::ZeroDuration();
    return std::max(absl::ZeroDuration(), cost * 100 / percent_ - elapsed);
  }

 private:
  int percent_;
};

}  // namespace jtrace
