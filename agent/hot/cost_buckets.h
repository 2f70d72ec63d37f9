// A histogram's buckets for times from nanoseconds to seconds.
#pragma once

#include <bit>
#include <cstdint>

namespace jtrace::hot {

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

}  // namespace jtrace::hot
