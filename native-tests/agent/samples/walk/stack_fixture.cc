#include "native-tests/agent/samples/walk/stack_fixture.h"

#include <alloca.h>
#include <stdlib.h>
#include <sys/time.h>

#include <string>

namespace jtrace::samples {
namespace {

struct Hop {
  int depth;
  long result;
};

int CompareAndHop(const void* left, const void* right, void* data) {
  auto* const hop = static_cast<Hop*>(data);
  if (hop->depth > 0) {
    const int depth = hop->depth;
    hop->depth = 0;
    hop->result += Recurse(depth - 1, depth);
  }
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

__attribute__((noinline)) long ThroughSort(int depth) {
  int values[] = {3, 1, 2, 5, 4};
  Hop hop{depth, 0};
  qsort_r(values, 5, sizeof(int), CompareAndHop, &hop);
  return hop.result + values[0];
}

__attribute__((noinline)) long ThroughAlloca(int depth, long seed) {
  volatile char* const room = static_cast<char*>(alloca(16 + static_cast<size_t>(seed & 255)));
  room[0] = static_cast<char>(seed);
  return Recurse(depth - 1, seed + 1) + room[0];
}

}  // namespace

__attribute__((noinline)) long Recurse(int depth, long seed) {
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

void Interrupted(void (*handler)(int, siginfo_t*, void*), const std::function<bool()>& body) {
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
  ignore.sa_handler = SIG_IGN;  // drops a pending one
  sigaction(SIGPROF, &ignore, nullptr);
  sigaction(SIGPROF, &before, nullptr);
}

}  // namespace jtrace::samples
