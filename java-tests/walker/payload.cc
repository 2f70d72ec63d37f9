// A library that no other code has open, so that closing it unmaps it.
#include <cstdint>

namespace {

// Its own frames between the caller and the work.
[[gnu::noinline]] uint32_t Work(uint32_t rounds, int depth) {
  if (depth > 0) return Work(rounds, depth - 1) + 1;
  volatile uint32_t x = 1;
  for (uint32_t i = 0; i < rounds; ++i) x = x * 1664525U + 1013904223U;
  return x;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] unsigned walker_payload_spin(unsigned rounds) {
  return Work(rounds, 5);
}
