// LD_PRELOAD: counts the calls of malloc while there is an int3 in the C library's malloc, those of
// jtrace apart from all others, and writes both numbers to the file named MALLOC_COUNTER when the
// program ends.
//
// A call is jtrace's if libjtrace.so is among its callers; the agent is not queried. Callers are
// visible up to the innermost frame of the JIT or the interpreter, which no unwind table describes.
// So allocations of the JVM for Java code that the agent itself calls (it does so when a recording
// begins, before there are hooks) count as the program's here, and as jtrace's in the agent.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <string_view>

namespace {

constexpr int kMostCallers = 256;

std::atomic<unsigned long> calls_of_program{0};
std::atomic<unsigned long> calls_of_jtrace{0};
// The first backtrace() loads a library, which allocates.
constinit thread_local bool tls_is_looking __attribute__((tls_model("initial-exec"))) = false;

bool IsInJtrace(void* code) {
  dl_find_object found;
  return _dl_find_object(code, &found) == 0 &&
         std::string_view(found.dlfo_link_map->l_name).ends_with("/libjtrace.so");
}

bool IsCalledByJtrace() {
  void* callers[kMostCallers];
  const int count = backtrace(callers, kMostCallers);
  for (int i = 0; i < count; ++i) {
    if (IsInJtrace(callers[i])) return true;
  }
  return false;
}

void Count() {
  if (tls_is_looking) return;
  tls_is_looking = true;
  (IsCalledByJtrace() ? calls_of_jtrace : calls_of_program).fetch_add(1);
  tls_is_looking = false;
}

// Calls before the constructor look up the function themselves.
template <typename Function>
Function Next(std::atomic<Function>& next, const char* name) {
  Function real = next.load(std::memory_order_relaxed);
  if (real != nullptr) return real;
  real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  next.store(real, std::memory_order_relaxed);
  return real;
}

using Malloc = void* (*)(size_t);
using Realloc = void* (*)(void*, size_t);
constinit std::atomic<Malloc> next_malloc{nullptr};
constinit std::atomic<Realloc> next_realloc{nullptr};

__attribute__((constructor)) void Prepare() {
  // Not during a dlopen: the loader calls realloc there.
  Next(next_malloc, "malloc");
  Next(next_realloc, "realloc");
  tls_is_looking = true;
  IsCalledByJtrace();
  tls_is_looking = false;
}

__attribute__((destructor)) void WriteCounts() {
  const unsigned long program = calls_of_program.load();
  const unsigned long jtrace = calls_of_jtrace.load();
  const char* const file = getenv("MALLOC_COUNTER");
  FILE* const out = file != nullptr ? fopen(file, "w") : nullptr;
  if (out == nullptr) return;
  fprintf(out, "%lu %lu\n", program, jtrace);
  fclose(out);
}

void CountIfHooked(Malloc real) {
  if (*reinterpret_cast<const volatile uint8_t*>(real) == 0xcc) Count();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* malloc(size_t bytes) {
  const Malloc real = Next(next_malloc, "malloc");
  CountIfHooked(real);
  return real(bytes);
}

// With a null pointer the C library's realloc calls its malloc directly, not through this library.
extern "C" __attribute__((visibility("default"))) void* realloc(void* memory, size_t bytes) {
  if (memory == nullptr) CountIfHooked(Next(next_malloc, "malloc"));
  return Next(next_realloc, "realloc")(memory, bytes);
}
