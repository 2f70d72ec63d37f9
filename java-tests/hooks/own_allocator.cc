// LD_PRELOAD: allocates in place of libc, as jemalloc and others do. Its free calls another
// function.
#include <stddef.h>

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void __libc_free(void* memory);

#define EXPORTED __attribute__((visibility("default"), noinline))

EXPORTED void* malloc(size_t bytes) {
  void* const memory = __libc_malloc(bytes);
  asm volatile("");  // no tail call
  return memory;
}
EXPORTED void* calloc(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
EXPORTED void* realloc(void* memory, size_t bytes) { return __libc_realloc(memory, bytes); }

EXPORTED void own_release(void* memory) {
  asm volatile("");
  __libc_free(memory);
}

EXPORTED void free(void* memory) {
  own_release(memory);
  asm volatile("");
}

}  // extern "C"
