// A thread of the agent that outlives its work: it sleeps until there is more.
//
// One JVM makes many recordings. A new thread for each would get another of malloc's arenas each
// time, and every arena keeps the memory that the work once used: 20 MB after fifty recordings,
// instead of 2. All signals except those of faults are blocked. Never sampled. Owner's methods: one
// thread at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace jtrace::trace {

class LastingThread {
 public:
  // `name`: as the kernel shows it, at most 15 bytes. The thread itself starts with its first work.
  explicit LastingThread(std::string name) : name_(std::move(name)) {}
  // Waits for the work and ends the thread. The agent's instance lives until the process ends.
  ~LastingThread();
  LastingThread(const LastingThread&) = delete;
  LastingThread& operator=(const LastingThread&) = delete;

  // Begins `work` on the thread. Wait for earlier work first. An exception that leaves it ends it.
  void Begin(std::function<void()> work);
  // Returns when the work has ended; at once if there is none.
  void Wait();

  // 0 before the first work. Any thread.
  pid_t os_tid() const { return os_tid_.load(std::memory_order_relaxed); }

 private:
  void Run();

  const std::string name_;
  std::mutex mutex_;  // guards work_ and ending_
  std::condition_variable changed_;
  std::function<void()> work_;  // null: none
  bool ending_ = false;
  std::thread thread_;
  std::atomic<pid_t> os_tid_{0};
};

}  // namespace jtrace::trace
