// Which threads descend from those that opened a window.
//
// Java provides the relation: NativeMetrics keeps an inheritable thread-local, which a thread's
// constructor copies from the creating thread.
//
// Any thread; a mutex, a leaf, around plain memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

class ThreadDescendants {
 public:
  // Opens `window` for the thread and its descendants.
  void Begin(uint64_t window, uint64_t java_tid);
  // Closes the window; its threads leave it.
  void End(uint64_t window);
  // Adds a starting thread that inherits the window; does nothing if the window has been closed.
  void Add(uint64_t window, uint64_t java_tid);

  // Adds the totals of a thread that has ended to those of its families.
  void Leave(uint64_t java_tid, const Values& totals);

  // Returns whether no window has a family: starting threads then inherit nothing.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  // Whether the thread is the window's opener or one of its descendants.
  bool Has(uint64_t window, uint64_t java_tid) const;
  // The descendants of the thread that opened the window, without that thread: those that run, and
  // the sum of the totals of those that have ended.
  struct Descendants {
    std::vector<uint64_t> running;
    Values ended = {};
  };
  Descendants DescendantsOf(uint64_t window) const;

 private:
  std::atomic<size_t> count_{0};
  mutable std::mutex mutex_;
  struct Family {
    uint64_t opener;
    absl::flat_hash_set<uint64_t> descendants;  // also those that have ended
    absl::flat_hash_set<uint64_t> running;
    Values ended = {};
  };
  absl::flat_hash_map<uint64_t, Family> families_;
};

}  // namespace jtrace::metrics
