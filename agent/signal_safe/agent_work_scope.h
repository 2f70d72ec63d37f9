// Which of a thread's work is jtrace's: hooks in native code count the program's calls, and not the
// agent's calls in the program's threads.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace jtrace::signal_safe {

// The number of AgentWorkScope objects on the calling thread's stack. The hook handler reads it.
extern constinit thread_local uint32_t tls_agent_work_depth
    __attribute__((tls_model("initial-exec")));

// Whether the calling thread is one of the agent's: then all of its work is jtrace's.
extern constinit thread_local bool tls_is_agent_thread __attribute__((tls_model("initial-exec")));

// While it exists, the thread's work is jtrace's own. For functions that the JVM, the C library or
// native code calls; costs two additions to the thread's memory. Async-signal-safe.
class AgentWorkScope {
 public:
  // The fences keep the stores before malloc: compilers know that malloc itself reads no memory of
  // ours, but a hook in it does.
  AgentWorkScope() {
    ++tls_agent_work_depth;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~AgentWorkScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --tls_agent_work_depth;
  }
  AgentWorkScope(const AgentWorkScope&) = delete;
  AgentWorkScope& operator=(const AgentWorkScope&) = delete;
};

// While it exists inside of AgentWorkScope, the thread's work is the program's: the agent calls it.
class ProgramCallScope {
 public:
  ProgramCallScope() : own_work_(std::exchange(tls_agent_work_depth, 0)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~ProgramCallScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    tls_agent_work_depth = own_work_;
  }
  ProgramCallScope(const ProgramCallScope&) = delete;
  ProgramCallScope& operator=(const ProgramCallScope&) = delete;

 private:
  const uint32_t own_work_;
};

// Set for good when an exception leaves the agent's work, nearly always for lack of memory.
// Abseil's containers and protobuf's messages may then be half changed, so no work of the agent may
// begin.
extern constinit std::atomic<bool> agent_is_disabled;
// Sets agent_is_disabled, says so on stderr, and wakes the writer, which stops timers and hooks. On
// any thread; allocates nothing.
void DisableAgent();

#ifdef __cpp_exceptions  // code of signal handlers is compiled without
// Runs `work` as jtrace's own, for a caller that cannot handle exceptions: the JVM, the C library.
// An exception that leaves `work` turns the agent off. Then, and later, the result is `otherwise`,
// or 0 without one. Only glibc's exception that cancels a thread passes, as it must.
template <typename Work, typename... Otherwise>
auto RunAsAgent(Work work, Otherwise... otherwise) -> decltype(work()) {
  if (agent_is_disabled.load(std::memory_order_relaxed)) return decltype(work())(otherwise...);
  const AgentWorkScope own;
  try {
    return work();
  } catch (::abi::__forced_unwind&) {
    throw;
  } catch (...) {
    DisableAgent();
    return decltype(work())(otherwise...);
  }
}

template <auto function, auto... otherwise>
struct AgentFunction;
template <typename Result, typename... Arguments, Result (*function)(Arguments...),
          auto... otherwise>
struct AgentFunction<function, otherwise...> {
  static Result Call(Arguments... arguments) {
    return RunAsAgent([&] { return function(arguments...); }, otherwise...);
  }
};

// A pointer to a function with the same signature that runs `function` as RunAsAgent does.
template <auto function, auto... otherwise>
inline constexpr auto kRunAsAgent = &AgentFunction<function, otherwise...>::Call;
#endif

}  // namespace jtrace::signal_safe
