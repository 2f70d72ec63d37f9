// A thread of the agent's that outlives its work: it sleeps until there is more.
//
// Recordings follow one another in the same JVM. A new thread for each would be given another of
// malloc's arenas each time, and every arena keeps what the work once took of it: 20 MB after fifty
// recordings, in place of 2.
// All signals are blocked but those of faults. Never sampled. Owner's methods: one thread at a
// time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace jtrace::writer {

class LastingThread {
 public:
  // `name`: as the kernel shows it, at most 15 bytes. The thread itself starts with its first work.
  explicit LastingThread(std::string name) : name_(std::move(name)) {}
  // Waits for the work and ends the thread. The agent's own ends with the process.
  ~LastingThread();
  LastingThread(const LastingThread&) = delete;
  LastingThread& operator=(const LastingThread&) = delete;

  // Begins `work` on the thread; what it was given before must have been waited for.
  void Begin(std::function<void()> work);
  // Until the work has ended; at once if there is none.
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

}  // namespace jtrace::writer
