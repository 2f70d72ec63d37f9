// Random numbers that are the same everywhere for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace jtrace::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // 0 … below - 1. (Distributions differ between libraries; this does not.)
  uint64_t Below(uint64_t below) { return engine_() % below; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace jtrace::testing
