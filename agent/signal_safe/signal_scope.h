// For signal handlers: counts those that run, keeps errno, and measures an alternate stack.
#pragma once

#include <errno.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jtrace::signal_safe {

// How many signal handlers, or callbacks, are running: a stop has to wait for them.
//
// A handler enters first and only then loads the published pointers; the stopping thread
// unpublishes the pointers first and then waits until the count was seen at zero. Both sides use
// sequentially consistent accesses, so either the handler sees that nothing is published (null, or
// a configuration that is not active) or the stopping thread sees the handler. If the count does
// not fall to zero in time (a handler's thread was suspended by a debugger, say), memory that the
// handlers may use must be leaked, never freed.
class InFlight {
 public:
  void Enter() { count_.fetch_add(1, std::memory_order_seq_cst); }
  void Leave() { count_.fetch_sub(1, std::memory_order_seq_cst); }
  bool Idle() const { return count_.load(std::memory_order_seq_cst) == 0; }

 private:
  std::atomic<int64_t> count_{0};
};

// Counts handlers of samples and of native hooks, and instrumented unwinds.
extern constinit InFlight handlers_in_flight;

// Keeps errno and counts the handler as in flight, on every path out of it.
class SignalScope {
 public:
  explicit SignalScope(InFlight& inflight) : inflight_(inflight), errno_(errno) {
    inflight_.Enter();
  }
  ~SignalScope() {
    inflight_.Leave();
    errno = errno_;
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  InFlight& inflight_;
  const int errno_;
};

// The room on a small stack that a signal handler was put on.
//
// The thread's alternate stack (sigaltstack(2)) when the signal came: a program may have made it as
// small as 2 KiB, and the kernel's part of a handler takes up to 3.6 KiB with AVX-512.
class AlternateStack {
 public:
  explicit AlternateStack(const ucontext_t& context)
      : low_(reinterpret_cast<uintptr_t>(context.uc_stack.ss_sp)),
        size_(context.uc_stack.ss_size) {}

  bool Has(uintptr_t sp) const { return sp - low_ < size_; }
  // Returns the bytes below the caller's frame; SIZE_MAX if that is on the thread's own stack.
  __attribute__((always_inline)) size_t Room() const {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return Has(here) ? here - low_ : SIZE_MAX;
  }

 private:
  const uintptr_t low_;
  const size_t size_;
};

// The bytes of stack below the handler's first frame that a sample of the interrupted pc alone
// needs at most. alternate_stack_test and AlternateStackTest measured 0.8 KiB.
inline constexpr size_t kStackBytesToSample = 2048;

// Returns the same for a walk, which took 2.4 KiB. A guarded load that fails takes the kernel's
// part of the JVM's SIGSEGV handler and 2 KiB more. Not for use in handlers.
inline size_t StackBytesToWalk() {
  constexpr unsigned long kMinSignalStack = 51;  // AT_MINSIGSTKSZ, which glibc 2.31 lacks
  return getauxval(kMinSignalStack) + 4608;
}

}  // namespace jtrace::signal_safe
