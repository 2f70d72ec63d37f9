// Counters by processor (S5.5): for events that many threads count, and of which only the total is
// wanted. An update adds to the slot of the processor that the thread is on, without a lock prefix
// and without a line that another processor writes to; the slots are summed when somebody asks.
//
// Made once, never freed. Everything is async-signal-safe but the constructor.
#pragma once

#include <cstdint>

namespace jtrace::metrics {

class RseqCounters {
 public:
  static constexpr uint32_t kMost = 32;

  enum class Way : uint8_t { kRseqIfPossible, kAtomic };
  explicit RseqCounters(Way way = Way::kRseqIfPossible);
  RseqCounters(const RseqCounters&) = delete;
  RseqCounters& operator=(const RseqCounters&) = delete;

  // `counter` < kMost. Wraps.
  void Add(uint32_t counter, int64_t delta);
  // Nothing is lost and nothing is there twice; what is added meanwhile may be in it or not.
  int64_t Total(uint32_t counter) const;
  // Additions that took the shared slot: threads without rseq, or interrupted time and again.
  int64_t shared(uint32_t counter) const;
  // Whether there are slots by processor; a thread that is not registered takes the shared one.
  bool UsesRseq() const;

 private:
  // Whole pairs of cache lines, which processors fetch together.
  struct alignas(128) Slots {
    int64_t value[kMost];
  };
  // An addition with a lock prefix must never meet one without: they have slots of their own.
  Slots* shared_ = nullptr;
  Slots* by_cpu_ = nullptr;  // null: none; never unmapped
  uint32_t cpus_ = 0;
  Slots fallback_ = {};
};

}  // namespace jtrace::metrics
