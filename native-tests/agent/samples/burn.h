// Uses the processor for a while, so that a thread's timer fires.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "agent/base/clock.h"

namespace jtrace::samples {

__attribute__((noinline)) inline void Burn(absl::Duration cpu_time) {
  const uint64_t end =
      CurrentThreadCpuNanos() + static_cast<uint64_t>(absl::ToInt64Nanoseconds(cpu_time));
  while (CurrentThreadCpuNanos() < end) {
    for (int i = 0; i < 10'000; ++i) asm volatile("" : "+r"(i));
  }
}

}  // namespace jtrace::samples
