/* Counts allocations while a thread has counting on. For a library that is preloaded. */
#include "malloc_count.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);

static __attribute__((tls_model("initial-exec"))) _Thread_local int counts;
static atomic_long counted;

void CountMallocs(int on) { counts = on; }

long Mallocs(void) { return atomic_load(&counted); }

static void Count(void) {
  if (counts) atomic_fetch_add(&counted, 1);
}

void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  Count();
  return __libc_realloc(memory, size);
}
