// The clock that the probes read (JTraceClock.java), and the memory by which they detect that a
// thread was off its processor. The layout is that of JTraceLayout.java.
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

// The clock that the probes read, and its units (JTraceClock.java).
enum class ProbeClock : uint64_t {
  kNone = 0,
  kCoarse = 1,  // Arena::tick, nanoseconds
  kTsc = 2,     // the time-stamp counter
  kCpu = 3,     // the same, with time off the processors charged separately
  kNano = 4,    // System.nanoTime: where the time-stamp counter cannot be used
};

// clock=cpu: a critical section in the sense of rseq(2) that no thread ever executes. A thread's
// rseq_cs word refers to it until the kernel takes the thread off its processor, or delivers a
// signal to it; the kernel then finds that the thread is elsewhere and clears the word.
struct alignas(32) RseqDescriptor {
  uint32_t version;
  uint32_t flags;
  uint64_t start;
  uint64_t length;
  uint64_t abort;      // after the signature, which the kernel requires
  uint32_t signature;  // RSEQ_SIG
  uint32_t after_signature;
};

}  // namespace jtrace::signal_safe
