// The time-stamp counter that the probes read, and the way from its units to nanoseconds of
// CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace jtrace::calls {

// The time-stamp counter (aarch64: the virtual count of the generic timer), without waiting for
// earlier instructions. Compiled Java code calls it like its own function: it must not block, throw
// or call back.
extern "C" uint64_t jtrace_ticks();
// The kernel's name of the clock that reads this counter.
extern const char kSteadyClockSource[];

// Whether the kernel itself keeps time by the time-stamp counter, i.e. trusts it to be steady and
// the same on all processors.
bool TicksAreSteady();

// The kernel reports no reliable rate of the time-stamp counter, so it is measured: from a first
// pair of readings to the last one. The longer the session, the better the rate; it is good to
// about 50 ns over the time between the readings. One thread.
class ClockScale {
 public:
  // Ticks are nanoseconds of CLOCK_MONOTONIC already.
  static ClockScale Nanoseconds() { return ClockScale(false); }
  // Takes the first reading. The rate is known after Update.
  static ClockScale TimeStampCounter() { return ClockScale(true); }

  // Takes another reading; sleeps until the first is 10 ms old.
  void Update();

  // Converts a length of time, rounded down.
  uint64_t Nanos(uint64_t ticks) const;
  // The same, rounded up.
  uint64_t NanosUp(uint64_t ticks) const;
  // Converts a moment to nanoseconds of CLOCK_MONOTONIC.
  uint64_t Monotonic(uint64_t ticks) const;
  double ticks_per_nano() const { return 1 / nanos_per_tick_; }
  // Returns what a probe would read now.
  uint64_t Now() const;

 private:
  struct Reading {
    uint64_t ticks;
    uint64_t nanos;
  };
  explicit ClockScale(bool counter);
  static Reading Read();

  bool counter_;
  Reading first_;
  double nanos_per_tick_ = 1;
};

}  // namespace jtrace::calls
