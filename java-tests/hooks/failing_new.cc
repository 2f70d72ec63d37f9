// LD_PRELOAD: from the start of jtrace's writer on, about one of JTRACE_TEST_FAILS_OF allocations
// by operator new throws std::bad_alloc. JTRACE_TEST_SEED chooses which. HotSpot has its own
// operator new, so that these are the agent's, and those of the libraries that it uses.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <new>

namespace {

std::atomic<bool> g_began{false};
std::atomic<uint64_t> g_count{0};

uint64_t Number(const char* name) {
  const char* const text = getenv(name);
  return text == nullptr ? 0 : strtoull(text, nullptr, 10);
}

// SplitMix64.
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

bool Fails() {
  static const uint64_t of = Number("JTRACE_TEST_FAILS_OF");
  static const uint64_t seed = Mix(Number("JTRACE_TEST_SEED"));
  if (of == 0 || !g_began.load(std::memory_order_relaxed)) return false;
  return Mix(seed + g_count.fetch_add(1, std::memory_order_relaxed)) % of == 0;
}

void* Allocate(size_t bytes) {
  void* const memory = Fails() ? nullptr : malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define EXPORTED __attribute__((visibility("default"), noinline))

EXPORTED void* operator new(size_t bytes) { return Allocate(bytes); }
EXPORTED void* operator new[](size_t bytes) { return Allocate(bytes); }
EXPORTED void operator delete(void* memory) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, size_t) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory, size_t) noexcept { free(memory); }

extern "C" EXPORTED int pthread_setname_np(pthread_t thread, const char* name) {
  using Function = int (*)(pthread_t, const char*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_setname_np"));
  if (strcmp(name, "jtrace writer") == 0) g_began.store(true);
  return original(thread, name);
}
