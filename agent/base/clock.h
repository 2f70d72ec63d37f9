// Clocks, and a session's time: nanoseconds of CLOCK_MONOTONIC since its start. Any thread, also in
// signal handlers and probes: the vdso serves both clocks without a system call.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace jtrace {

inline uint64_t MonotonicNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Wall clock, nanoseconds since 1970.
inline uint64_t UnixNanos() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

class SessionClock {
 public:
  SessionClock() : start_(MonotonicNanos()) {}
  // A new session begins now.
  void Restart() { start_.store(MonotonicNanos(), std::memory_order_relaxed); }
  uint64_t start() const { return start_.load(std::memory_order_relaxed); }
  uint64_t Now() const { return Since(MonotonicNanos()); }
  // 0 for a time before the start.
  uint64_t Since(uint64_t monotonic_ns) const {
    const uint64_t begin = start();
    return monotonic_ns > begin ? monotonic_ns - begin : 0;
  }

 private:
  std::atomic<uint64_t> start_;
};

}  // namespace jtrace
