// Runs one piece of work after the other on one thread of the agent.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "agent/base/agent_thread.h"

namespace jtrace {

// A thread of the agent that outlives its work: it sleeps until there is more.
//
// One JVM makes many recordings. A new thread for each would get another of malloc's arenas each
// time, and every arena keeps the memory that the work once used: 20 MB after fifty recordings,
// instead of 2. One thread at a time may call its methods.
class WorkerThread {
 public:
  // `name`: as the kernel shows it, at most 15 bytes. The thread itself starts with its first work.
  explicit WorkerThread(std::string name) : name_(std::move(name)) {}
  // Waits for the work and ends the thread. The agent's instance lives until the process ends.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Begins `work`; earlier work must have ended (Wait). Throws like AgentThread::Start. An
  // exception that leaves `work` ends it and turns the agent off (signal_safe/agent_work_scope.h).
  void Begin(std::function<void()> work);
  // Returns when the work has ended; at once if there is none.
  void Wait();

  // 0 before the first work. Any thread.
  pid_t os_tid() const { return thread_.os_tid(); }

 private:
  void Run();

  const std::string name_;
  std::mutex mutex_;  // guards work_ and ending_
  std::condition_variable changed_;
  std::function<void()> work_;  // null: none
  bool ending_ = false;
  AgentThread thread_;
};

}  // namespace jtrace
