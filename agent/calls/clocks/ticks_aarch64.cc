#include "agent/calls/clocks/clock_scale.h"

namespace jtrace::calls {

extern "C" uint64_t jtrace_ticks() {
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

constinit const char kSteadyClockSource[] = "arch_sys_counter";

}  // namespace jtrace::calls
