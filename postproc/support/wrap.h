// Arithmetic modulo 2^64.
#pragma once

#include <cstdint>

namespace jtrace::postproc {

// Adds modulo 2^64: sums of absurd input wrap instead of being undefined, and every identity
// between sums still holds.
inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

inline int64_t WrapMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace jtrace::postproc
