// Remembers who gave each thread the permit that ends its next park (LockSupport.unpark).
//
// A woken thread may itself wake the next one that waits on the same object: so do the waiters of a
// latch, a barrier, and a lock's queue. The wait of the last one is divided at each of these
// wake-ups. The part before a wake-up is attributed to the thread for which the woken thread had
// waited.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace jtrace::events {

// A thread that unparks another one.
struct Releaser {
  uint32_t thread = 0;    // Thread.id; 0: it has none yet
  uint64_t java_tid = 0;  // Thread.threadId(); 0: unknown
  uint32_t routine = 0;   // Routine.id of its innermost method; 0: unknown
};

// An interval of a wait, from the end of the interval before it, or from the wait's begin.
struct WaitInterval {
  uint64_t until_ns = 0;  // CLOCK_MONOTONIC
  Releaser by;
};

// What is known when a thread unparks another one.
struct Unpark {
  Releaser by;
  // The object of the releaser's own last park (an identity hash; 0: none), and that park's
  // intervals.
  int32_t object = 0;
  std::vector<WaitInterval> intervals = {};
};

// Returns the intervals of a park on `object` that `unpark` ended.
std::vector<WaitInterval> IntervalsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns,
                                      uint64_t end_ns);
// Returns who caused the longest interval of a park that began at `begin_ns`. `intervals`: not
// empty.
const Releaser& CauseOfLongest(const std::vector<WaitInterval>& intervals, uint64_t begin_ns);

// A thread has one permit at most: the first unpark since its last park counts, the others change
// nothing. Any thread; a lock for each shard of the threads.
class UnparkTable {
 public:
  // Entries of threads that never park again stay. So a full shard is cleared: the next parks of
  // its threads end for an unknown reason.
  static constexpr size_t kShards = 64;
  static constexpr size_t kMaxInShard = 1024;

  // Adds that the thread `target` (Thread.threadId()) is about to be unparked.
  void Add(uint64_t target, const Unpark& unpark);
  // Removes and returns who unparked `target`, whose park has ended; no value: no one.
  std::optional<Unpark> Remove(uint64_t target);
  void Clear();

 private:
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<uint64_t, Unpark> unparks ABSL_GUARDED_BY(mutex);
  };
  Shard& ShardOf(uint64_t target) { return shards_[target % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace jtrace::events
