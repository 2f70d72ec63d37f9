// Totals of the calling thread and additions to its counters, without locks or allocation:
// everything but SetCounted is async-signal-safe, preserves errno and throws nothing. The build
// checks the symbols that the object code refers to (handler_symbols.txt).
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/metrics/counter_numbers.h"
#include "agent/metrics/metric.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::metrics {

// Whether a metric is available, or why not.
enum class Availability : uint8_t {
  kYes,
  kNoMetric,       // there is no such metric
  kNotCounted,     // it is not counted now
  kUnsupported,    // this version, JVM or system does not report it
  kProcessOnly,    // it is known only as one total
  kTreesOnly,      // it is known only for methods and call paths
  kNotInHandlers,  // reading it needs a file
  kVirtualThread,  // the kernel does not know virtual threads
  kUnknownThread,  // the calling thread is not counted yet, or is ending
};

class CurrentThreadTotals {
 public:
  // Both must outlive it. `layout`: see ThreadCounters.
  CurrentThreadTotals(const signal_safe::AllocLayout& layout, UserCounterTable& users)
      : layout_(layout), users_(users) {}
  CurrentThreadTotals(const CurrentThreadTotals&) = delete;
  CurrentThreadTotals& operator=(const CurrentThreadTotals&) = delete;

  // Sets which metrics of MetricOrigin::kCounted are counted now, as a set of bits.
  void SetCounted(uint64_t metrics) { counted_.store(metrics, std::memory_order_relaxed); }

  // Returns whether the metric is available now: kYes, kNoMetric, kNotCounted or kUnsupported.
  Availability AvailabilityOf(uint32_t metric) const;
  // The same as AvailabilityOf, and whether the metric is available for threads.
  Availability AvailabilityForThreads(uint32_t metric) const;
  // The same as AvailabilityOf, and whether the metric is available for the process.
  Availability AvailabilityForProcess(uint32_t metric) const;
  // Reads a total of the calling thread, or the virtual thread on it; `value` is valid with kYes.
  Availability Read(uint32_t metric, int64_t& value) const;
  // Returns whether the kernel counts the metric by thread, so that virtual threads lack it.
  static bool IsPerKernelThread(uint32_t metric);
  // Adds to a user counter, for the calling thread or on its processor. Returns kYes, kNoMetric
  // (not a user counter) or kUnknownThread.
  Availability Add(uint32_t metric, int64_t delta);

 private:
  const signal_safe::AllocLayout& layout_;
  UserCounterTable& users_;
  std::atomic<uint64_t> counted_{0};
};

// Reads cpu.ns, switches or page.faults of the calling thread in one system call. None: another
// metric, or one that this kernel does not report. Async-signal-safe.
std::optional<int64_t> ReadCurrentThreadFast(Metric metric);

}  // namespace jtrace::metrics
