// Linked first or preloaded: ends the program where memory is allocated or freed in a callback of
// dl_iterate_phdr, which holds the loader's lock. An allocator that unwinds the stack takes its own
// lock first and the loader's second: a deadlock.
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void __libc_free(void* memory);

#define EXPORTED __attribute__((visibility("default")))

static thread_local int t_callbacks __attribute__((tls_model("initial-exec"))) = 0;

static void Check() {
  static const char kMessage[] = "memory is allocated while the loader's lock is held\n";
  if (t_callbacks == 0) return;
  t_callbacks = 0;
  if (write(STDERR_FILENO, kMessage, sizeof kMessage - 1) < 0) _exit(3);
  abort();
}

EXPORTED void* malloc(size_t bytes) {
  Check();
  return __libc_malloc(bytes);
}
EXPORTED void* calloc(size_t count, size_t bytes) {
  Check();
  return __libc_calloc(count, bytes);
}
EXPORTED void* realloc(void* memory, size_t bytes) {
  Check();
  return __libc_realloc(memory, bytes);
}
EXPORTED void free(void* memory) {
  Check();
  __libc_free(memory);
}

using Callback = int (*)(dl_phdr_info*, size_t, void*);
using Iterate = int (*)(Callback, void*);

struct Call {
  Callback callback;
  void* data;
};

static int CallBack(dl_phdr_info* info, size_t size, void* data) {
  const Call& call = *static_cast<Call*>(data);
  ++t_callbacks;
  const int result = call.callback(info, size, call.data);
  --t_callbacks;
  return result;
}

EXPORTED int dl_iterate_phdr(Callback callback, void* data) {
  static const auto real = reinterpret_cast<Iterate>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  Call call = {callback, data};
  return real(CallBack, &call);
}

}  // extern "C"
