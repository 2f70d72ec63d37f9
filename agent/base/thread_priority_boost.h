// Threads of this process that get processor time before others, for a while.
//
// The JVM's compilers have as much to do after probes went into many classes as in a program's
// first minute, and compete for processors with threads that meanwhile run interpreted, at a
// twentieth of their speed. On a server with ten busy threads and two processors the compilers got
// a ninth of the processor time, and the program had half its speed back after ten seconds; with
// priority for the compilers after three (agent/control/README.md).
//
// Any thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace jtrace {

class ThreadPriorityBoost {
 public:
  // `names`: as the kernel has them, at most 15 bytes each.
  explicit ThreadPriorityBoost(std::vector<std::string> names) : names_(std::move(names)) {}
  ThreadPriorityBoost(const ThreadPriorityBoost&) = delete;
  ThreadPriorityBoost& operator=(const ThreadPriorityBoost&) = delete;

  // Gives the threads priority until they rest, at most for kMaxPriorityTime from `now`. Returns
  // false if no thread got it: the kernel allows it only with CAP_SYS_NICE or `ulimit -e`.
  bool Begin(absl::Time now);
  // Ends the priority if the threads rest. Returns when to call again; InfiniteFuture: it is over.
  absl::Time EndIfIdle(absl::Time now);
  // Finds the threads that have these names now, as Begin does.
  void Refresh();
  // Returns whether one of the found threads runs or waits for a processor.
  bool AreBusy() const;
  // Returns the processor time that the found threads have used since they were created.
  absl::Duration CpuTime() const;
  // Ends the priority: gives every thread of these names its earlier nice value.
  void End();

  // The lowest nice value, so the highest priority: one compiler gets nearly all of a processor for
  // which six other threads wait.
  static constexpr int kNice = -20;
  static constexpr absl::Duration kMaxPriorityTime = absl::Seconds(20);

 private:
  void EndLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration CpuTimeLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<std::string> names_;
  mutable absl::Mutex mutex_;
  // Set by Refresh, not at each EndIfIdle: a JVM may have thousands of threads to search.
  std::vector<pid_t> threads_ ABSL_GUARDED_BY(mutex_);
  std::map<pid_t, int> nice_before_ ABSL_GUARDED_BY(mutex_);  // empty: they have no priority
  absl::Time latest_ ABSL_GUARDED_BY(mutex_);
  absl::Time checked_ ABSL_GUARDED_BY(mutex_);
  absl::Duration used_ ABSL_GUARDED_BY(mutex_);  // at checked_
};

}  // namespace jtrace
