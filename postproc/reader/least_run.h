// Which runs of calls are reduced.
#pragma once

#include <cstdint>

namespace jtrace::postproc {

// Shorter runs are passed on call by call, which is as fast.
struct LeastRun {
  int64_t calls = 64;
  int64_t calls_a_node = 4;
};

}  // namespace jtrace::postproc
