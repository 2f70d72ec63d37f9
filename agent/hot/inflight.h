// How many signal handlers are running: a stop has to wait for them.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::hot {

// Counts handlers between entry and exit.
//
// Protocol: a handler enters first and only then loads the published pointers; the stopping thread
// unpublishes the pointers first and then waits until the count was seen at zero. Both sides use
// sequentially consistent accesses, so either the handler sees the null pointer or the stopping
// thread sees the handler. If the count does not fall to zero in time (a handler's thread was
// suspended by a debugger, say), memory that the handlers may use must be leaked, never freed.
class InFlight {
 public:
  void Enter() { count_.fetch_add(1, std::memory_order_seq_cst); }
  void Leave() { count_.fetch_sub(1, std::memory_order_seq_cst); }
  bool Idle() const { return count_.load(std::memory_order_seq_cst) == 0; }

 private:
  std::atomic<int64_t> count_{0};
};

}  // namespace jtrace::hot
