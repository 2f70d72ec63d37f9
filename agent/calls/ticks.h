// From the units of the probes' clock to nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "agent/base/agent_thread.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The kernel reports no reliable rate of the time-stamp counter, so it is measured: from a first
// pair of readings to the last one. The longer the session, the better the rate; it is good to
// about 50 ns over the time between the readings. One thread.
class TickScale {
 public:
  // Ticks are nanoseconds of CLOCK_MONOTONIC already.
  static TickScale Nanoseconds() { return TickScale(false); }
  // Takes the first reading. The rate is known after Update.
  static TickScale TimeStampCounter() { return TickScale(true); }

  // Takes another reading; sleeps until the first is 10 ms old.
  void Update();

  // A length of time, rounded down.
  uint64_t Nanos(uint64_t ticks) const;
  // The same, rounded up.
  uint64_t NanosUp(uint64_t ticks) const;
  // A moment, in nanoseconds of CLOCK_MONOTONIC.
  uint64_t Monotonic(uint64_t ticks) const;
  double ticks_per_nano() const { return 1 / nanos_per_tick_; }
  // The present reading of a probe.
  uint64_t Now() const;

 private:
  struct Reading {
    uint64_t ticks;
    uint64_t nanos;
  };
  explicit TickScale(bool counter);
  static Reading Read();

  bool counter_;
  Reading first_;
  double nanos_per_tick_ = 1;
};

// clock=coarse: the thread that advances Arena::tick.

// Stores CLOCK_MONOTONIC, in nanoseconds and rounded down to whole microseconds, every `period`, or
// later when all processors are busy: a probe may read a time that is a period or more old, but the
// time never goes back.
class TickThread {
 public:
  // `tick` must outlive the thread; it is set before the constructor returns.
  TickThread(uint64_t& tick, std::chrono::nanoseconds period);
  ~TickThread();
  TickThread(const TickThread&) = delete;
  TickThread& operator=(const TickThread&) = delete;

 private:
  void Run(std::chrono::nanoseconds period);
  void Tick();

  uint64_t& tick_;
  std::atomic<bool> stopping_{false};
  AgentThread thread_;
};

// clock=cpu: detecting that a thread was off its processor (rseq(2)).

// The calling thread's rseq_cs word; null if the C library registered none (before glibc 2.35, or
// switched off by glibc.pthread.rseq=0).
uint64_t* CurrentRseqWord();

// Fills in the descriptor, in its final place.
void InitializeRseqDescriptor(signal_safe::RseqDescriptor& descriptor);

// Whether this kernel clears the word when a thread sleeps: tries it on the calling thread, which
// sleeps for a moment. Kernels differ in how eager they are, so this is tested, not assumed.
bool RseqShowsSwitches(const signal_safe::RseqDescriptor& descriptor);

}  // namespace jtrace::calls
