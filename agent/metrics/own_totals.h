// Totals of the calling thread and additions to its counters, where nothing may be locked or
// allocated: everything but SetCounted is async-signal-safe, changes no errno and throws nothing.
// The build checks what the object code refers to (handler_symbols.txt).
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hot/counter_block.h"
#include "agent/metrics/counter_numbers.h"
#include "agent/metrics/metric.h"

namespace jtrace::metrics {

enum class Answer : uint8_t {
  kYes,
  kNoMetric,       // there is no such metric
  kNotCounted,     // nobody counts it now
  kUnsupported,    // this version, JVM or system does not tell
  kProcessOnly,    // it is known as one total
  kTreesOnly,      // it is known of methods and call paths
  kNotInHandlers,  // it takes a file to read
  kVirtualThread,  // the kernel knows nothing of virtual threads
  kUnknownThread,  // the calling thread was not met yet, or ends
};

class OwnTotals {
 public:
  // `users` must outlive it. `layout`: see ThreadCounters.
  OwnTotals(const hot::AllocLayout& layout, CounterNumbers& users)
      : layout_(layout), users_(users) {}
  OwnTotals(const OwnTotals&) = delete;
  OwnTotals& operator=(const OwnTotals&) = delete;

  // Which metrics of Source::kCounted have somebody who counts, as a set of bits.
  void SetCounted(uint64_t metrics) { counted_.store(metrics, std::memory_order_relaxed); }

  // Whether anybody knows the metric now: kYes, kNoMetric, kNotCounted or kUnsupported.
  Answer Check(uint32_t metric) const;
  // The same, and whether it is known of threads.
  Answer CheckOfThread(uint32_t metric) const;
  // The same, and whether it is known of the process.
  Answer CheckOfProcess(uint32_t metric) const;
  // Of the calling thread, or the virtual thread on it; `value` only with kYes.
  Answer Read(uint32_t metric, int64_t& value) const;
  // Whether the kernel counts it, by thread: of virtual threads nobody knows it.
  static bool IsOfKernelsThread(uint32_t metric);
  // Counts for who runs, or on the processor. kYes, kNoMetric (no user counter), kUnknownThread.
  Answer Add(uint32_t metric, int64_t delta);

 private:
  const hot::AllocLayout layout_;
  CounterNumbers& users_;
  std::atomic<uint64_t> counted_{0};
};

}  // namespace jtrace::metrics
