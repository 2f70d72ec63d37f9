// Threads of this process that get processor time before others, for a while.
//
// The JVM's compilers have as much to do after probes went into many classes as in a program's
// first minute, and compete for processors with threads that meanwhile run interpreted, at a
// twentieth of their speed. On a server with ten busy threads and two processors they got a ninth
// of them, and half the speed was back after ten seconds; with priority after three
// (agent/control/README.md).
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

class PreferredThreads {
 public:
  // `names`: as the kernel has them, at most 15 bytes each.
  explicit PreferredThreads(std::vector<std::string> names) : names_(std::move(names)) {}
  PreferredThreads(const PreferredThreads&) = delete;
  PreferredThreads& operator=(const PreferredThreads&) = delete;

  // Gives them priority until they rest, or for kMaxPriorityTime. Again: from now on. False: they
  // have none; the kernel allows it only with CAP_SYS_NICE or `ulimit -e`.
  bool Begin(absl::Time now);
  // Ends it when they rest. Returns when to look again; InfiniteFuture: they have no priority.
  absl::Time Check(absl::Time now);
  // Looks which threads have these names. Begin does that, too.
  void Find();
  // Whether one of those that were found works, or would if it had a processor.
  bool Work() const;
  // Their processor time since they began.
  absl::Duration Used() const;
  // Every thread of these names has the nice value that it had before.
  void End();

  // The least nice value: one compiler gets nearly all of a processor for which six other threads
  // wait.
  static constexpr int kNice = -20;
  static constexpr absl::Duration kMaxPriorityTime = absl::Seconds(20);

 private:
  void EndLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration UsedLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<std::string> names_;
  mutable absl::Mutex mutex_;
  // Found once, not at each look: a JVM may have thousands of threads.
  std::vector<pid_t> threads_ ABSL_GUARDED_BY(mutex_);
  std::map<pid_t, int> nice_before_ ABSL_GUARDED_BY(mutex_);  // empty: they have no priority
  absl::Time latest_ ABSL_GUARDED_BY(mutex_);
  absl::Time checked_ ABSL_GUARDED_BY(mutex_);
  absl::Duration used_ ABSL_GUARDED_BY(mutex_);  // then
};

}  // namespace jtrace
