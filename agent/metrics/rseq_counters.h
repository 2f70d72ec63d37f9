// Counters by processor (S5.5): for events that many threads count and that need only a total. An
// update adds to the slot of the current processor, without a lock prefix and without a cache line
// that another processor writes to; a query sums the slots.
//
// Created once, never freed. Everything except the constructor is async-signal-safe.
#pragma once

#include <cstdint>

namespace jtrace::metrics {

class RseqCounters {
 public:
  static constexpr uint32_t kMaxCounters = 32;

  enum class Way : uint8_t { kRseqIfPossible, kAtomic };
  explicit RseqCounters(Way way = Way::kRseqIfPossible);
  RseqCounters(const RseqCounters&) = delete;
  RseqCounters& operator=(const RseqCounters&) = delete;

  // `counter` < kMaxCounters. Wraps.
  void Add(uint32_t counter, int64_t delta);
  // Nothing is lost or counted twice; concurrent additions may be included or not.
  int64_t Total(uint32_t counter) const;
  // Returns the additions to the shared slot: by threads without rseq, or interrupted repeatedly.
  int64_t shared(uint32_t counter) const;
  // Returns whether there are slots by processor. A thread without rseq uses the shared one.
  bool UsesRseq() const;

 private:
  // Whole pairs of cache lines, which processors fetch together.
  struct alignas(128) Slots {
    int64_t value[kMaxCounters];
  };
  // Additions with and without a lock prefix must not use the same slot, so they have separate
  // ones.
  Slots* shared_ = nullptr;
  Slots* by_cpu_ = nullptr;  // null: none; never unmapped
  uint32_t cpus_ = 0;
  Slots fallback_ = {};
};

}  // namespace jtrace::metrics
