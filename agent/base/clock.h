// Clocks in nanoseconds, and a recording's time: CLOCK_MONOTONIC since its start. Any thread, also
// in signal handlers and probes: the vdso serves the first two clocks without a system call.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace jtrace {

inline uint64_t ToNanos(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

inline uint64_t MonotonicNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ToNanos(now);
}

// Wall clock, nanoseconds since 1970.
inline uint64_t UnixNanos() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return ToNanos(now);
}

// CPU time of the calling thread.
inline uint64_t CurrentThreadCpuNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return ToNanos(now);
}

// The CPU clock of a thread of this process, as the kernel numbers it (CPUCLOCK_PERTHREAD and
// CPUCLOCK_SCHED in include/linux/posix-timers.h). pthread_getcpuclockid needs a pthread_t.
inline clockid_t ThreadCpuClock(pid_t tid) {
  constexpr unsigned kPerThread = 4, kScheduler = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | kPerThread | kScheduler);
}

// CPU time of a thread of this process; 0 if it has ended. A system call.
inline uint64_t ThreadCpuNanos(pid_t tid) {
  timespec time;
  return clock_gettime(ThreadCpuClock(tid), &time) == 0 ? ToNanos(time) : 0;
}

class RecordingClock {
 public:
  RecordingClock() : start_(MonotonicNanos()) {}
  // A new recording begins now.
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
