// The program's own counters, and where they count. Async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/metrics/metric.h"
#include "agent/metrics/rseq_counters.h"
#include "agent/signal_safe/counter_block.h"

namespace jtrace::metrics {

// Where a counter counts.
enum class Counting : uint8_t {
  kByThread,     // known for each thread and, if probes charge it, for each call path
  kByProcessor,  // only the process's total is known
};

class CounterNumbers {
 public:
  static constexpr uint32_t kMost = signal_safe::kMaxMetrics - kFirstUser;
  static_assert(kMost <= RseqCounters::kMost);

  bool Has(uint32_t metric) const { return metric >= kFirstUser && metric - kFirstUser < count(); }
  // Of an existing counter.
  bool IsByProcessor(uint32_t metric) const {
    return countings_[metric - kFirstUser] == Counting::kByProcessor;
  }
  // The counters that count by processor, by number minus kFirstUser. Only if there is one.
  RseqCounters& by_processor() const { return *by_processor_; }

 protected:
  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  // Adds a counter; one thread at a time. `by_processor`: null if there is none yet.
  void Publish(Counting counting, RseqCounters* by_processor) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (by_processor_ == nullptr) by_processor_ = by_processor;
    countings_[count] = counting;
    count_.store(count + 1, std::memory_order_release);
  }

 private:
  // Entries below count_ are never written again, nor is by_processor_ once a counter needs it.
  std::array<Counting, kMost> countings_ = {};
  RseqCounters* by_processor_ = nullptr;
  std::atomic<uint32_t> count_{0};
};

// Sums and differences wrap like the counters of the probes.
constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

constexpr int64_t WrapSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace jtrace::metrics
