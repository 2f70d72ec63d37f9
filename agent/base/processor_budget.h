// How much processor time work in the background may take: after each piece, when the next may
// begin. Pure; the caller measures.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace jtrace {

class ProcessorBudget {
 public:
  // `percent`: of one processor, from 1 to 100; 100: no limit.
  explicit ProcessorBudget(int percent) : percent_(percent) {}

  // How long the next piece has to wait after one that took `elapsed`, and `cost` of processor time
  // meanwhile. Time in which a piece waited itself, for a processor or a safepoint, counts as rest.
  absl::Duration PauseAfter(absl::Duration elapsed, absl::Duration cost) const {
    if (percent_ >= 100) return absl::ZeroDuration();
    return std::max(absl::ZeroDuration(), cost * 100 / percent_ - elapsed);
  }

 private:
  int percent_;
};

}  // namespace jtrace
