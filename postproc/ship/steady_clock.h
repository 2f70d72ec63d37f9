// A clock for waiting: that of the wall may be set.
#pragma once

#include <time.h>

#include "absl/time/time.h"

namespace jtrace::ship {

// Since the machine started.
inline absl::Time SteadyNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::UnixEpoch() + absl::DurationFromTimespec(now);
}

}  // namespace jtrace::ship
