#include "native-tests/agent/native_hooks/hooked_functions.h"

#include <setjmp.h>
#include <signal.h>
#include <time.h>

extern "C" {

__attribute__((noinline, visibility("default"))) int64_t hooked_add(int64_t x) { return 3 * x + 1; }

__attribute__((noinline, visibility("default"))) int64_t hooked_square(int64_t x) { return x * x; }

__attribute__((noinline, visibility("default"))) void hooked_sleep(int64_t nanoseconds) {
  const timespec time = {0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

__attribute__((noinline, visibility("default"))) int64_t hooked_call_sleep(int64_t nanoseconds) {
  hooked_sleep(nanoseconds);
  return nanoseconds;  // not a tail call
}

__attribute__((noinline, visibility("default"))) int64_t hooked_recurse(int64_t depth) {
  if (depth == 0) return 0;
  volatile int64_t below = hooked_recurse(depth - 1);
  return below + 1;
}

__attribute__((noinline, visibility("default"))) int64_t hooked_call_recurse(int64_t depth) {
  volatile int64_t result = hooked_recurse(depth);
  return result;
}

__attribute__((noinline, visibility("default"))) int64_t hooked_may_throw(int64_t x) {
  if (x == 0) throw x;
  return x;
}

__attribute__((noinline, visibility("default"))) int64_t hooked_try(int64_t x, int64_t pause) {
  volatile int64_t result = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      const int64_t was = hooked_may_throw(i == 0 ? x : 1);
      if (result == 0) result = was;
      if (i == 0) hooked_sleep(pause);
    } catch (int64_t) {
      result = -1;
      hooked_sleep(pause);
    }
  }
  return result;
}

static thread_local jmp_buf t_back;

__attribute__((noinline, visibility("default"))) void hooked_leave(int64_t x, int64_t nanoseconds) {
  hooked_sleep(nanoseconds);
  if (x != 0) longjmp(t_back, 1);
}

__attribute__((noinline, visibility("default"))) int64_t hooked_try_jump(int64_t x,
                                                                         int64_t nanoseconds) {
  if (setjmp(t_back) != 0) return 1;
  hooked_leave(x, nanoseconds);
  return 0;
}

__attribute__((noinline, visibility("default"))) void hooked_raise() {
  raise(SIGUSR2);
  asm volatile("");  // not a tail call
}

__attribute__((noinline, visibility("default"))) int64_t hooked_call_raise() {
  hooked_raise();
  return 1;
}

}  // extern "C"

extern "C" __attribute__((visibility("default"))) void handle_nothing(int) {}

namespace hooked {

__attribute__((noinline, visibility("default"))) int64_t Overloaded(int32_t x) { return x + 1; }
__attribute__((noinline, visibility("default"))) int64_t Overloaded(int64_t x) { return x + 2; }

}  // namespace hooked
