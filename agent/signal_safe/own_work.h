// Which of a thread's work is jtrace's: hooks in native code count the program's calls, and not the
// agent's calls in the program's threads.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace jtrace::signal_safe {

// How many OwnWork the calling thread is in. The hook handler reads it.
extern constinit thread_local uint32_t tls_own_work __attribute__((tls_model("initial-exec")));

// A thread of the agent: all of its work is.
extern constinit thread_local bool tls_is_agent_thread __attribute__((tls_model("initial-exec")));

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

// An exception has left the agent's work: there was no memory. Containers of Abseil and messages of
// protobuf may be half changed then, so that none of the agent's work must begin any more. For
// good.
extern constinit std::atomic<bool> agent_is_off;
// Sets it, says so on stderr, and wakes the writer, which stops timers and hooks. Any thread;
// allocates nothing.
void TurnOff();

#ifdef __cpp_exceptions  // signal handlers throw none
// Runs `work` as jtrace's own, for a caller that knows no exceptions: the JVM, the C library. One
// that leaves it turns the agent off. The result is then `otherwise`, or 0, as from there on. Only
// the exception of a thread's cancellation passes, which must.
template <typename Work, typename... Otherwise>
auto AsOwn(Work work, Otherwise... otherwise) -> decltype(work()) {
  if (agent_is_off.load(std::memory_order_relaxed)) return decltype(work())(otherwise...);
  const OwnWork own;
  try {
    return work();
  } catch (::abi::__forced_unwind&) {
    throw;
  } catch (...) {
    TurnOff();
    return decltype(work())(otherwise...);
  }
}

template <auto function, auto... otherwise>
struct OwnFunction;
template <typename Result, typename... Arguments, Result (*function)(Arguments...),
          auto... otherwise>
struct OwnFunction<function, otherwise...> {
  static Result Call(Arguments... arguments) {
    return AsOwn([&] { return function(arguments...); }, otherwise...);
  }
};

// `function`, to be passed to its caller, as AsOwn runs it.
template <auto function, auto... otherwise>
inline constexpr auto kAsOwn = &OwnFunction<function, otherwise...>::Call;
#endif

}  // namespace jtrace::signal_safe
