// Native stacks to walk: recursion of many shapes, interrupted at any instruction.
#ifndef JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_
#define JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include <functional>
#include <string>

namespace jtrace::hot {

// Recursion through plain calls, variable-sized frames, a library's callback and string code.
// Returns a number that depends on everything, so that nothing is optimised away.
__attribute__((noinline)) inline long Recurse(int depth, long seed);

struct Hop {
  int depth;
  long result;
};

inline int CompareAndHop(const void* left, const void* right, void* data) {
  auto* const hop = static_cast<Hop*>(data);
  if (hop->depth > 0) {
    const int depth = hop->depth;
    hop->depth = 0;
    hop->result += Recurse(depth - 1, depth);
  }
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

__attribute__((noinline)) inline long ThroughSort(int depth) {
  int values[] = {3, 1, 2, 5, 4};
  Hop hop{depth, 0};
  qsort_r(values, 5, sizeof(int), CompareAndHop, &hop);
  return hop.result + values[0];
}

__attribute__((noinline)) inline long ThroughAlloca(int depth, long seed) {
  volatile char* const room = static_cast<char*>(alloca(16 + static_cast<size_t>(seed & 255)));
  room[0] = static_cast<char>(seed);
  return Recurse(depth - 1, seed + 1) + room[0];
}

inline long Recurse(int depth, long seed) {
  if (depth <= 0) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += std::to_string(seed + i);
    return static_cast<long>(std::hash<std::string>()(text) & 0xff);
  }
  switch (seed % 3) {
    case 0:
      return ThroughSort(depth) + 1;
    case 1:
      return ThroughAlloca(depth, seed) + 1;
    default:
      return Recurse(depth - 1, seed * 7 + depth) + 1;
  }
}

// Runs `body` until it says false, with SIGPROF each 500 µs of CPU time going to `handler`.
inline void Interrupted(void (*handler)(int, siginfo_t*, void*),
                        const std::function<bool()>& body) {
  struct sigaction action {
  }, before;
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, &before);
  const itimerval on{{0, 500}, {0, 500}}, off{};
  setitimer(ITIMER_PROF, &on, nullptr);
  while (body()) {
  }
  setitimer(ITIMER_PROF, &off, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;  // drops one that is still on its way
  sigaction(SIGPROF, &ignore, nullptr);
  sigaction(SIGPROF, &before, nullptr);
}

}  // namespace jtrace::hot

#endif  // JTRACE_NATIVE_TESTS_AGENT_HOT_WALK_STACK_FIXTURE_H_
