// Totals of the calling thread and additions to its counters, without locks or allocation:
// everything but SetCounted is async-signal-safe, preserves errno and throws nothing. The build
// checks the symbols that the object code refers to (handler_symbols.txt).
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/metrics/counter_numbers.h"
#include "agent/metrics/metric.h"
#include "agent/signal_safe/counter_block.h"

namespace jtrace::metrics {

// Whether a metric is available, or why not.
enum class Answer : uint8_t {
  kYes,
  kNoMetric,       // there is no such metric
  kNotCounted,     // it is not counted now
  kUnsupported,    // this version, JVM or system does not report it
  kProcessOnly,    // it is known only as one total
  kTreesOnly,      // it is known only for methods and call paths
  kNotInHandlers,  // reading it needs a file
  kVirtualThread,  // the kernel does not know virtual threads
  kUnknownThread,  // the calling thread was not seen yet, or is ending
};

class OwnTotals {
 public:
  // Both must outlive it. `layout`: see ThreadCounters.
  OwnTotals(const signal_safe::AllocLayout& layout, CounterNumbers& users)
      : layout_(layout), users_(users) {}
  OwnTotals(const OwnTotals&) = delete;
  OwnTotals& operator=(const OwnTotals&) = delete;

  // Sets which metrics of Source::kCounted are counted now, as a set of bits.
  void SetCounted(uint64_t metrics) { counted_.store(metrics, std::memory_order_relaxed); }

  // Whether the metric is available now: kYes, kNoMetric, kNotCounted or kUnsupported.
  Answer Check(uint32_t metric) const;
  // The same, and whether it is available for threads.
  Answer CheckOfThread(uint32_t metric) const;
  // The same, and whether it is available for the process.
  Answer CheckOfProcess(uint32_t metric) const;
  // Of the calling thread, or the virtual thread on it; `value` only with kYes.
  Answer Read(uint32_t metric, int64_t& value) const;
  // Whether the kernel counts it by thread: it is unknown for virtual threads.
  static bool IsOfKernelsThread(uint32_t metric);
  // Counts for the running thread, or on the processor. kYes, kNoMetric (not a user counter),
  // kUnknownThread.
  Answer Add(uint32_t metric, int64_t delta);

 private:
  const signal_safe::AllocLayout& layout_;
  CounterNumbers& users_;
  std::atomic<uint64_t> counted_{0};
};

// The kernel's counters of the calling thread that one call can read. Async-signal-safe.

// cpu.ns, switches and page.faults. None: this kernel does not report the metric, or not in one
// call.
std::optional<int64_t> ReadOwnNow(Metric metric);
// In nanoseconds.
std::optional<int64_t> ReadClock(clockid_t clock);

// The kernel's events of a thread, each charged to what the thread does (S5.5, second embodiment).
//
// A perf event of the thread is the kernel's accumulator for it: what the processors counted is
// added to it whenever they leave the thread. Every so many events the kernel stops it and signals
// the thread, whose handler charges that many to the thread's counters and starts it again; a probe
// charges those to the call path. The handler does not read the event: a program that closes all
// descriptors may have given its number to a file.
//
// Everything but the table is async-signal-safe. The build checks the symbols that the object code
// refers to (handler_symbols.txt).

// One event of one thread. Only that thread uses it, with the signal blocked, and whoever closes
// it, after Forget.
struct EventCount {
  int fd = -1;
  uint32_t metric = 0;
  int64_t period = 1;   // events between two signals
  int64_t charged = 0;  // of what the kernel has counted
};

// Events by the number of their descriptor; larger numbers are refused.
inline constexpr int kMostDescriptors = 1 << 16;
std::atomic<EventCount*>& EventOfDescriptor(int fd);

// Charges so many events to the calling thread, whose event it is, or to the virtual thread on it.
// Nothing if the thread is not counted yet.
void Charge(EventCount& event, int64_t events);

// Of the signal that events send, to the thread that they are of. Starts the event again.
void HandleEventSignal(int signal, siginfo_t* info, void* context);

}  // namespace jtrace::metrics
