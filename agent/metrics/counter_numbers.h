// What signal handlers need of counters: the numbers of the program's own ones, and the blocks in
// which threads count. Async-signal-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "agent/base/clock.h"
#include "agent/metrics/metric.h"
#include "agent/metrics/rseq_counters.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::metrics {

// Where a counter counts.
enum class Counting : uint8_t {
  kByThread,     // known for each thread and, if probes charge it, for each call path
  kByProcessor,  // only the process's total is known
};

class UserCounterTable {
 public:
  static constexpr uint32_t kMaxCounters = signal_safe::kMaxMetrics - kFirstUser;
  static_assert(kMaxCounters <= RseqCounters::kMaxCounters);

  bool Has(uint32_t metric) const { return metric >= kFirstUser && metric - kFirstUser < count(); }
  // `metric`: of an existing counter.
  bool IsByProcessor(uint32_t metric) const {
    return countings_[metric - kFirstUser] == Counting::kByProcessor;
  }
  // The counters that count by processor, by number minus kFirstUser. At least one must exist.
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
  std::array<Counting, kMaxCounters> countings_ = {};
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

// ---- Blocks of threads: plain loads and stores, in an order that is also correct for a handler
// that interrupts the thread anywhere

// tls_metric_counts: the block of the calling thread, or of the virtual thread on it;
// tls_platform_metric_counts: always that of the calling thread. Null: the thread is not counted
// yet, or has ended. A block is complete before it is stored here, and is removed from here before
// its values are collected.
[[gnu::tls_model(
    "initial-exec")]] extern constinit thread_local signal_safe::MetricCounts* tls_metric_counts;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local signal_safe::MetricCounts*
    tls_platform_metric_counts;

inline constexpr auto kAllocBytes = static_cast<uint32_t>(Metric::kAllocBytes);
// offcpu.ns is not counted: its place in `counts` has the thread's CPU time when counting began.
inline constexpr auto kCpuAtStart = static_cast<uint32_t>(Metric::kOffCpu);

// A compiler barrier: the thread's handlers see the stores before it before those after it.
inline void CompilerBarrier() { std::atomic_signal_fence(std::memory_order_seq_cst); }

inline int64_t ReadCount(const signal_safe::MetricCounts& block, uint32_t metric) {
  return std::atomic_ref<int64_t>(const_cast<int64_t&>(block.counts[metric]))
      .load(std::memory_order_relaxed);
}

inline void WriteCount(signal_safe::MetricCounts& block, uint32_t metric, int64_t value) {
  std::atomic_ref<int64_t>(block.counts[metric]).store(value, std::memory_order_relaxed);
}

// alloc.bytes. The three words of a JavaThread change one after the other: when the thread itself
// allocates, which it does not do while it asks, and when a collection retires its TLAB, which can
// happen at any time that the thread is not in Java code. So they are read until they stand still.
inline int64_t ReadAllocated(const signal_safe::AllocLayout& layout,
                             const signal_safe::MetricCounts& block) {
  if (block.java_thread == 0 || layout.allocated_bytes == 0) return ReadCount(block, kAllocBytes);
  int64_t value = signal_safe::ReadAllocated(layout, block.java_thread);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const int64_t again = signal_safe::ReadAllocated(layout, block.java_thread);
    if (again == value) break;
    value = again;
  }
  return value + block.alloc_offset;
}

// Reads any metric. `kernel` returns the kernel's value of a metric for the block's thread; it is
// not called for virtual threads, which have none. `counts` has its value when counting began.
template <typename Kernel>
int64_t ReadBlock(const signal_safe::AllocLayout& layout, const signal_safe::MetricCounts& block,
                  uint32_t metric, Kernel kernel) {
  if (IsUser(metric)) return ReadCount(block, metric);
  const auto known = static_cast<Metric>(metric);
  const auto wall = [&] { return static_cast<int64_t>(MonotonicNanos() - block.start_ns); };
  const auto used = [&](Metric it) {
    if (block.os_tid == 0) return int64_t{0};
    return std::max<int64_t>(0, kernel(it) - ReadCount(block, static_cast<uint32_t>(it)));
  };
  if (known == Metric::kAllocBytes) return ReadAllocated(layout, block);
  if (known == Metric::kWall) return wall();
  if (known == Metric::kOffCpu) {
    const auto cpu = static_cast<uint32_t>(Metric::kCpu);
    const int64_t since =
        used(Metric::kCpu) + ReadCount(block, cpu) - ReadCount(block, kCpuAtStart);
    return std::max<int64_t>(0, wall() - since);
  }
  return InfoOf(known).origin == MetricOrigin::kKernel ? used(known) : ReadCount(block, metric);
}

}  // namespace jtrace::metrics
