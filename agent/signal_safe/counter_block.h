// A thread's count of each metric (S5.1): Cum(m, t).
//
// One block a thread, including virtual ones, in memory of the agent that is never unmapped. Only
// the thread itself writes to `cum` and `changes`; any thread may read. Blocks are whole cache
// lines, so that no two threads ever write to the same one.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace jtrace::signal_safe {

// Metrics that are counted by events, including user counters; the numbers are those of
// metrics/metric.h.
inline constexpr uint32_t kMaxMetrics = 48;
// In place of a metric: what all threads were charged with meanwhile. Added to its number.
inline constexpr uint32_t kElapsed = 64;
static_assert(kElapsed >= kMaxMetrics);
// Counted by the probes around calls out of scope (JTraceOutside).
inline constexpr uint32_t kOutsideNanos = 25;
inline constexpr uint32_t kOutsideElements = 26;

struct alignas(64) CounterBlock {
  int64_t cum[kMaxMetrics];
  // Events counted so far, written after `cum`: the probes read only this to see whether there is
  // anything to charge.
  uint64_t changes;
  // While the thread runs, its alloc.bytes is the JavaThread's count plus alloc_offset: the amount
  // that it counted before for others, virtual threads and their carrier. While the thread does not
  // run, java_thread is 0 and `cum` has the value.
  int64_t alloc_offset;
  uint64_t java_thread;  // address
  uint64_t
      platform_thread;  // a platform thread's JavaThread, whatever uses it now; 0: virtual, native
  uint64_t java_tid;    // Thread.threadId(); 0: no Java thread
  uint64_t start_ns;    // CLOCK_MONOTONIC when counting began
  int32_t os_tid;       // 0: a virtual thread
  uint32_t is_partial;  // 1: the thread ran before counting began
  uint64_t index;       // the registry's: its index among the live ones
};
static_assert(sizeof(CounterBlock) == 448);

// Where a JavaThread keeps its allocated bytes: allocated_bytes + tlab_top - tlab_start. All three
// are the thread's own; exact at any point of its own code, compiled or not.
struct AllocLayout {
  uint32_t allocated_bytes = 0;  // offset; 0: this JVM does not report it
  uint32_t tlab_top = 0;
  uint32_t tlab_start = 0;
};

inline int64_t ReadAllocated(const AllocLayout& layout, uint64_t java_thread) {
  const auto read = [java_thread](uint32_t offset) {
    auto* field = reinterpret_cast<int64_t*>(java_thread + offset);
    return std::atomic_ref<int64_t>(*field).load(std::memory_order_relaxed);
  };
  return read(layout.allocated_bytes) + (read(layout.tlab_top) - read(layout.tlab_start));
}

// On the counter's own thread. Nothing is lost to a signal handler that interrupts the thread and
// adds to the same counter; with one instruction, where there is one, this costs least. Wraps.
inline void AddOwn(int64_t& counter, int64_t delta) {
#ifdef __x86_64__
  asm volatile("addq %1, %0" : "+m"(counter) : "er"(delta) : "cc");
#else
  std::atomic_ref(counter).fetch_add(delta, std::memory_order_relaxed);
#endif
}

// On the block's own thread, in handlers too.
inline void Count(CounterBlock& block, uint32_t metric, int64_t delta) {
  AddOwn(block.cum[metric], delta);
  // A reader that sees the change sees the count.
#ifdef __x86_64__
  asm volatile("incq %0" : "+m"(block.changes) : : "cc", "memory");
#else
  std::atomic_ref(block.changes).fetch_add(1, std::memory_order_release);
#endif
}

// A histogram's buckets for times from nanoseconds to seconds.

// Sixteen buckets for each power of two: within 1/16 of the value at any size. Up to 15 ns each
// value has its own.
inline constexpr int kCostBuckets = 16 * 29;

inline int CostBucket(uint64_t ns) {
  const uint32_t value = ns < UINT32_MAX ? static_cast<uint32_t>(ns) : UINT32_MAX;
  if (value < 16) return static_cast<int>(value);
  const int exponent = std::bit_width(value) - 1;  // 4 to 31
  return 16 * (exponent - 3) + static_cast<int>(value >> (exponent - 4) & 15);
}

// The middle of a bucket.
inline uint64_t CostOfBucket(int bucket) {
  if (bucket < 16) return static_cast<uint64_t>(bucket);
  const int shift = bucket / 16 - 1;
  const uint64_t low = (16ull + static_cast<uint64_t>(bucket % 16)) << shift;
  return low + (1ull << shift) / 2;
}

}  // namespace jtrace::signal_safe
