// Uses the processor for a while, so that a thread's timer fires.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace jtrace::samples {

inline uint64_t CpuNanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

__attribute__((noinline)) inline void Burn(std::chrono::milliseconds cpu_time) {
  const uint64_t end = CpuNanos() + static_cast<uint64_t>(cpu_time.count()) * 1'000'000;
  while (CpuNanos() < end) {
    for (int i = 0; i < 10'000; ++i) asm volatile("" : "+r"(i));
  }
}

}  // namespace jtrace::samples
