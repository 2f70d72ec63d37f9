// The agent's own threads.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace jtrace {

// A thread of the agent. All signals except those of faults are blocked, all of its work is the
// agent's own (signal_safe/agent_work_scope.h), and it is never sampled. One thread at a time may
// call Start, Join and Detach.
class AgentThread {
 public:
  AgentThread() = default;
  AgentThread(const AgentThread&) = delete;
  AgentThread& operator=(const AgentThread&) = delete;

  // Starts the thread, which calls `run`; os_tid is known when this returns. `name`: as the kernel
  // shows it, at most 15 bytes. Throws std::system_error if the system has no thread.
  void Start(std::string name, std::function<void()> run);
  bool IsRunning() const { return thread_.joinable(); }
  // Waits for the end of `run`.
  void Join();
  // Lets the thread run until the process ends. This object, and all it uses, must live as long.
  void Detach() { thread_.detach(); }

  // The kernel's id; 0 before Start and after Join. Any thread.
  pid_t os_tid() const { return os_tid_.load(std::memory_order_relaxed); }

 private:
  std::thread thread_;
  std::atomic<pid_t> os_tid_{0};
};

// Returns whether the thread with this kernel id is one of the agent's, which are neither sampled
// nor recorded. Any thread.
bool IsAgentThread(pid_t tid);

}  // namespace jtrace
