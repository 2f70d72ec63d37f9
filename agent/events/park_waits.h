// Who unparked threads that were parked, if codes= requests it.
//
// Threads: Start and Stop on the thread of a start or stop; the rest on the Java thread concerned.
#pragma once

#include <jvmti.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/events/wait_writer.h"
#include "agent/trace/limited_events.h"

namespace jtrace::events {

// Who gave a thread the permit with which its next park ends (LockSupport.unpark).
//
// A thread that is unparked may at once unpark the next one of those that wait on the same object:
// so do the waiters of a latch, a barrier, or a lock in the order of their queue. The last one's
// wait then has a part for each: until the one before it was unparked it waited for whoever that
// one waited for.

// A thread that unparks another one.
struct Releaser {
  uint32_t thread = 0;    // Thread.id; 0: it has none yet
  uint64_t java_tid = 0;  // Thread.getId(); 0: unknown
  uint32_t routine = 0;   // Routine.id where it is then; 0: none, or unknown
};

// From the end of the part before it, or the wait's begin.
struct Part {
  uint64_t until_ns = 0;
  Releaser by;
};

// What is known when a thread unparks another one.
struct Unpark {
  Releaser by;
  // The parts of its own last park, and the object (a hash) that this was on; 0: none.
  int32_t object = 0;
  std::vector<Part> parts = {};
};

// The parts of a park on `object` that `unpark` ended.
std::vector<Part> PartsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns, uint64_t end_ns);
// Whose part of a park with that begin is the longest. `parts`: not empty.
const Releaser& LongestOf(const std::vector<Part>& parts, uint64_t begin_ns);

// A thread has one permit at most: the first unpark since its last park counts, the others change
// nothing. Any thread; a lock for each shard of the threads.
class UnparkTable {
 public:
  // Of threads that never park again an entry stays until its shard is full, and then cleared:
  // their parks have an unknown end.
  static constexpr size_t kShards = 64;
  static constexpr size_t kMostInShard = 1024;

  // The thread `target` is about to be unparked.
  void Note(uint64_t target, const Unpark& unpark);
  // Its park has ended: who unparked it; none: no one.
  std::optional<Unpark> Take(uint64_t target);
  void Clear();

 private:
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<uint64_t, Unpark> unparks ABSL_GUARDED_BY(mutex);
  };
  Shard& ShardOf(uint64_t target) { return shards_[target % kShards]; }

  std::array<Shard, kShards> shards_;
};

// Functions in place of the two natives through which platform threads park and are unparked,
// whatever they use of java.util.concurrent: jdk.internal.misc.Unsafe.park and unpark.
//
// They stay there from the first request on: without a listener they only call the JVM's function.
// JNI passes a native nothing of ours, so the functions and the listener are known to the whole
// process. Threads: Listen one at a time; a listener hears on the Java thread concerned.
struct ParkCall {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  // Until when it waits at most, as the native gets it: milliseconds since 1970, or nanoseconds
  // from its begin, where 0 means that there is no limit.
  bool is_absolute = false;
  int64_t time = 0;
};

class ParkListener {
 public:
  // The calling thread is about to unpark `target`, a java.lang.Thread.
  virtual void Unparks(JNIEnv* jni, jobject target) = 0;
  // The calling thread was parked.
  virtual void Parked(JNIEnv* jni, const ParkCall& call) = 0;

 protected:
  ~ParkListener() = default;
};

// `listener` lives as long as the process. In the live phase. An error if the JVM does not allow
// it.
absl::Status ListenToParks(jvmtiEnv* env, JNIEnv* jni, ParkListener& listener);
void IgnoreParks();

class ParkWaits : public ParkListener {
 public:
  ParkWaits(JavaVM* vm, const SessionClock& clock, WaitWriter& writer, trace::LimitedEvents& limits,
            Losses& losses)
      : vm_(vm), clock_(clock), writer_(writer), limits_(limits), losses_(losses) {}

  // Reports what the JVM does not offer as a loss.
  void Start(const CodeSet& codes);
  void Stop() { IgnoreParks(); }

  void Unparks(JNIEnv* jni, jobject target) override;
  void Parked(JNIEnv* jni, const ParkCall& call) override;

 private:
  absl::Status Listen();
  uint64_t ParkedTid(JNIEnv* jni, const jvm::RunningThread& running);
  proto::WaitEvent EndOf(uint64_t parked_tid, uint64_t java_tid, int32_t object,
                         const ParkCall& call, bool is_recorded);

  JavaVM* vm_;
  const SessionClock& clock_;
  WaitWriter& writer_;
  trace::LimitedEvents& limits_;
  Losses& losses_;
  jvmtiEnv* env_ = nullptr;
  // Of java.lang.Thread; null: this JDK does not have it.
  jclass thread_class_ = nullptr;  // a global reference
  jfieldID park_blocker_ = nullptr;
  jmethodID current_carrier_ = nullptr;
  UnparkTable unparks_;
};

}  // namespace jtrace::events
