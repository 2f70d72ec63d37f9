#include <x86intrin.h>

#include "agent/calls/clocks/clock_scale.h"

namespace jtrace::calls {

extern "C" uint64_t jtrace_ticks() { return __rdtsc(); }

constinit const char kSteadyClockSource[] = "tsc";

}  // namespace jtrace::calls
