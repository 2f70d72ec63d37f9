// The block in which a thread counts its metrics: the total of each metric in the thread (S5.1).
//
// Each thread has one block, a virtual thread too; its memory is never unmapped. Only the thread
// itself counts in `counts` and `changes`; any thread may read. No two blocks share a cache line.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// The metrics that are counted by events, user counters too, numbered as in metrics/metric.h.
inline constexpr uint32_t kMaxMetrics = 48;
// Added to a metric's number: elapsed.NAME, what all threads were charged with meanwhile.
inline constexpr uint32_t kElapsed = 64;
static_assert(kElapsed >= kMaxMetrics);
// Metrics that the probes around calls out of scope count (JTraceOutside).
inline constexpr uint32_t kBoundaryNanos = 25;
inline constexpr uint32_t kBoundaryElements = 26;

struct alignas(64) MetricCounts {
  int64_t counts[kMaxMetrics];
  // Events counted so far, written after `counts`: the probes read only this to see whether there
  // is anything to charge.
  uint64_t changes;
  // While the thread runs, its alloc.bytes is the JavaThread's count plus alloc_offset, which
  // corrects for what that JavaThread counted for others: virtual threads and their carrier share
  // one. While the thread does not run, java_thread is 0 and `counts` has the value.
  int64_t alloc_offset;
  uint64_t java_thread;  // address
  // A platform thread's JavaThread, whatever uses it now; 0: a virtual or native thread.
  uint64_t platform_thread;
  uint64_t java_tid;    // Thread.threadId(); 0: no Java thread
  uint64_t start_ns;    // CLOCK_MONOTONIC when counting began
  int32_t os_tid;       // 0: a virtual thread
  uint32_t is_partial;  // 1: the thread ran before counting began
  uint64_t index;       // of metrics::ThreadCounters: its index among the live blocks
};
static_assert(sizeof(MetricCounts) == 448);

// Offsets in a JavaThread: it has allocated allocated_bytes + tlab_top - tlab_start bytes. While
// the thread is in Java code, only it changes these fields. Otherwise a collection may retire its
// TLAB at any time, so readers outside of Java code repeat the reading (metrics::ReadAllocated).
struct AllocLayout {
  uint32_t allocated_bytes = 0;  // offset; 0: this JVM does not report it
  uint32_t tlab_top = 0;
  uint32_t tlab_start = 0;
};

// Returns the bytes that a JavaThread has allocated, on that thread or while it stands still; any
// other thread may get the count of a moment ago. Async-signal-safe.
inline int64_t ReadAllocated(const AllocLayout& layout, uint64_t java_thread) {
  const auto read = [java_thread](uint32_t offset) {
    auto* field = reinterpret_cast<int64_t*>(java_thread + offset);
    return std::atomic_ref<int64_t>(*field).load(std::memory_order_relaxed);
  };
  return read(layout.allocated_bytes) + (read(layout.tlab_top) - read(layout.tlab_start));
}

// Adds to a counter that only the calling thread writes; wraps around. It is one instruction
// (aarch64: atomic), so that a signal handler in between may add to the counter too.
inline void AddOwn(int64_t& counter, int64_t delta) {
#ifdef __x86_64__
  asm volatile("addq %1, %0" : "+m"(counter) : "er"(delta) : "cc");
#else
  std::atomic_ref(counter).fetch_add(delta, std::memory_order_relaxed);
#endif
}

// Adds to a metric, on the block's own thread, in its signal handlers too.
inline void Count(MetricCounts& block, uint32_t metric, int64_t delta) {
  AddOwn(block.counts[metric], delta);
  // A reader that sees the change sees the count.
#ifdef __x86_64__
  asm volatile("incq %0" : "+m"(block.changes) : : "cc", "memory");
#else
  std::atomic_ref(block.changes).fetch_add(1, std::memory_order_release);
#endif
}

}  // namespace jtrace::signal_safe
