// Counts single objects, for alloc.objects, live.bytes, live.objects, freed.bytes, freed.objects:
// the JVM reports each allocation and, by tags, each dead object.
//
// A JVMTI environment of its own lives from Prepare to Stop and owns the tags: an object that
// outlives its recording costs nothing more, and is in no later one. Threads: Prepare, Start, Stop
// and Forget one at a time; Allocated on the allocating thread; Freed on any thread, some time
// after the collection that found the object dead.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "agent/jvm/jvmti_environment.h"
#include "agent/metrics/allocation_paths.h"
#include "agent/metrics/thread_counters.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::metrics {

class LiveObjectCounter {
 public:
  LiveObjectCounter(JavaVM* vm, ThreadCounters& counters);
  LiveObjectCounter(const LiveObjectCounter&) = delete;
  LiveObjectCounter& operator=(const LiveObjectCounter&) = delete;

  // Opens the environment. At load this runs before the program's first thread: JDK 17 misses what
  // running threads allocate until their next sample is due, half a megabyte on average.
  void Prepare(uint64_t wanted);
  // Counts these metrics (bits) from here on; live objects begin at 0. `by_path`: also by the call
  // paths that allocate them. Returns those that this JVM can count now: another agent may already
  // sample allocations.
  uint64_t Start(uint64_t wanted, bool by_path);
  void Stop();
  // Returns the paths, which last until Forget or the next Start. Empty without `by_path`.
  AllocationPaths& paths() { return paths_; }
  void Forget();

  // Callbacks.
  void Allocated(jvmtiEnv* env, jobject object, jlong bytes);
  void Freed(jvmtiEnv* env, int64_t tag);

 private:
  // Opens the environment with the capabilities that are needed; not if this JVM refuses one.
  void OpenEnvironment(bool tags);
  // Waits until no callback runs, about 1 s at most, after the environment was disposed of. Returns
  // whether none runs.
  bool WaitForCallbacks();
  uint32_t CurrentPath();
  void AddLive(int64_t objects, int64_t bytes);

  ThreadCounters& counters_;
  jvm::Environment env_;
  std::atomic<bool> counts_{false};
  std::atomic<bool> tags_{false};
  std::atomic<bool> by_path_{false};
  signal_safe::InFlight callbacks_;
  AllocationPaths paths_;
  std::atomic<int64_t> live_objects_{0};  // the process's live.objects
  std::atomic<int64_t> live_bytes_{0};    // the process's live.bytes
};

}  // namespace jtrace::metrics
