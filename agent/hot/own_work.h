// Which of a thread's work is jtrace's: hooks in native code count the program's calls, and not the
// agent's calls in the program's threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace jtrace::hot {

// How many OwnWork the calling thread is in. The hook handler reads it.
extern constinit thread_local uint32_t tls_own_work __attribute__((tls_model("initial-exec")));

// The thread's work until its end is jtrace's own. In a frame that the JVM, the C library or native
// code has called; costs two additions to the thread's memory. Async-signal-safe.
class OwnWork {
 public:
  // The fences: compilers know that malloc reads no memory of ours, but its hook does.
  OwnWork() {
    ++tls_own_work;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~OwnWork() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --tls_own_work;
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

// Inside of OwnWork: the thread's work until its end is the program's, which the agent calls.
class ProgramsWork {
 public:
  ProgramsWork() : own_work_(std::exchange(tls_own_work, 0)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~ProgramsWork() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    tls_own_work = own_work_;
  }
  ProgramsWork(const ProgramsWork&) = delete;
  ProgramsWork& operator=(const ProgramsWork&) = delete;

 private:
  const uint32_t own_work_;
};

template <auto function>
struct OwnFunction;
template <typename Result, typename... Arguments, Result (*function)(Arguments...)>
struct OwnFunction<function> {
  static Result Call(Arguments... arguments) {
    const OwnWork own;
    return function(arguments...);
  }
};

// `function`, to be passed to its caller: all its work is jtrace's own.
template <auto function>
inline constexpr auto kAsOwn = &OwnFunction<function>::Call;

}  // namespace jtrace::hot
