#include <x86intrin.h>

#include "agent/probes/native_methods.h"

namespace jtrace {

extern "C" uint64_t jtrace_ticks() { return __rdtsc(); }

constinit const char kSteadyClockSource[] = "tsc";

}  // namespace jtrace
