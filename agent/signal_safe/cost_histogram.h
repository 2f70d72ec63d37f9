// The buckets of the histogram of handler times, from nanoseconds to seconds. Async-signal-safe.
#pragma once

#include <bit>
#include <cstdint>

namespace jtrace::signal_safe {

// Each power of two has sixteen buckets, so that a bucket is at most 1/16 of its values wide. Each
// value up to 15 ns has its own; times from 4.2 s on share the last one.
inline constexpr int kCostBuckets = 16 * 29;

// Returns the bucket of a time in nanoseconds, below kCostBuckets.
inline int CostBucket(uint64_t ns) {
  const uint32_t value = ns < UINT32_MAX ? static_cast<uint32_t>(ns) : UINT32_MAX;
  if (value < 16) return static_cast<int>(value);
  const int exponent = std::bit_width(value) - 1;  // 4 to 31
  return 16 * (exponent - 3) + static_cast<int>(value >> (exponent - 4) & 15);
}

// Returns the middle of a bucket, in nanoseconds.
inline uint64_t CostOfBucket(int bucket) {
  if (bucket < 16) return static_cast<uint64_t>(bucket);
  const int shift = bucket / 16 - 1;
  const uint64_t low = (16ull + static_cast<uint64_t>(bucket % 16)) << shift;
  return low + (1ull << shift) / 2;
}

}  // namespace jtrace::signal_safe
