// Functions for tests to hook.
#pragma once

#include <cstdint>

extern "C" {
// 3 * x + 1
int64_t hooked_add(int64_t x);
// x * x
int64_t hooked_square(int64_t x);
// Sleeps that long, called by hooked_call_sleep.
void hooked_sleep(int64_t nanoseconds);
int64_t hooked_call_sleep(int64_t nanoseconds);
// Calls itself `depth` times.
int64_t hooked_recurse(int64_t depth);
int64_t hooked_call_recurse(int64_t depth);
// Throws if x is 0.
int64_t hooked_may_throw(int64_t x);
// Calls it with x and, after a pause, with 1, from the same place; -1: one of them threw.
int64_t hooked_try(int64_t x, int64_t pause_nanoseconds);
// Sleeps, and leaves hooked_try_jump by longjmp if x != 0.
void hooked_leave(int64_t x, int64_t nanoseconds);
int64_t hooked_try_jump(int64_t x, int64_t nanoseconds);  // how often it was left
// Raises SIGUSR2 in the calling thread.
void hooked_raise();
int64_t hooked_call_raise();
}

// A handler of signals.
extern "C" void handle_nothing(int signal);

namespace hooked {
int64_t Overloaded(int32_t x);
int64_t Overloaded(int64_t x);
}  // namespace hooked
