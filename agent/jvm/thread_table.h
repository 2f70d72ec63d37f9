// Who the threads of this JVM are: the one place that knows which ids belong to which thread.
//
// Other classes keep only their own data of a thread: ThreadRegistry writes records, ThreadCounters
// has counters, the sampler timers by the kernel's id. The table lives as long as the JVM, across
// recordings. Signal handlers and probes do not use it.
//
// Threads: any. One mutex, held for plain memory only; of the agent's other mutexes only the
// encoder's is taken inside of it. No event inside a safepoint takes it.
//
// Ids that are used again, and threads that are seen too late:
// - Java gives a Thread.threadId() to one thread only.
// - The kernel gives the id of an ended thread to a new one. When a thread reports its start, any
//   other thread known by the same kernel id has ended (Start). A listed thread has ended, too, if
//   another one has reported its start with the same kernel id (Adopt).
// - A listed thread may end before the list is read. A thread that has reported its end is never
//   adopted. If a thread was unknown when it ended, its kernel id is remembered until another
//   thread starts with it, for kMaxEndingNs at most. Meanwhile a listed thread with that id may be
//   gone, and the JVM's structure for it must not be read (MayBeGone).
// - A thread that has ended keeps its name and its number until everything of it is written
//   (Release, ForgetEnded).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/base/clock.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::jvm {

struct ThreadIdentity {
  uint64_t java_tid = 0;      // Thread.threadId(), ignoring overrides in subclasses; 0: none
  pid_t os_tid = 0;           // the kernel's id; 0: a virtual thread, or unknown
  uintptr_t java_thread = 0;  // the JVM's structure (Thread.eetop); 0: none, or unknown
};

struct ThreadEntry {
  ThreadIdentity identity;
  uint32_t number = 0;  // Thread.id in the trace; 0: none yet
  bool has_ended = false;
  std::string name;  // as in the trace; of a virtual thread also before it has a number
  // Belongs to metrics::ThreadCounters, which sets it under its own mutex. Null: it has none.
  signal_safe::MetricCounts* counters = nullptr;
};

class ThreadTable {
 public:
  // The most ended threads that are remembered, so that none of them is adopted.
  static constexpr size_t kMaxEnded = 16384;
  // The most native threads that are kept; also the most reported ends (DrainEndedTids).
  static constexpr size_t kMaxKernelIds = 1 << 16;
  // The JVM frees its structure for a thread well within this time of the reported end.
  static constexpr uint64_t kMaxEndingNs = 10'000'000'000;

  // Access to the table. Holds its mutex; entries must not be used after the Access ends.
  class Access {
   public:
    explicit Access(ThreadTable& table) : table_(table), lock_(table.mutex_) {}

    // Null: the thread is unknown.
    ThreadEntry* OfJava(uint64_t java_tid);
    // The Java thread with the kernel's id, also while it ends. Null: there is none.
    ThreadEntry* JavaOn(pid_t os_tid);
    // The kernel's thread while it runs no Java code. Null: unknown.
    ThreadEntry* NativeOn(pid_t os_tid);

    // A platform thread reports its own start, perhaps more than once.
    ThreadEntry& Start(const ThreadIdentity& identity);
    // Adds a listed thread, unless it is known. Null: it has ended.
    ThreadEntry* Adopt(const ThreadIdentity& identity);
    // Whether a listed thread with these ids may have ended. `now_ns`: MonotonicNanos.
    bool MayBeGone(uint64_t java_tid, pid_t os_tid, uint64_t now_ns = MonotonicNanos()) const;
    // Returns a virtual thread, or one whose kind is unknown; adds it if it is new.
    ThreadEntry& Virtual(uint64_t java_tid);
    // Returns a thread that runs no Java code; adds it if it is new.
    ThreadEntry& Native(pid_t os_tid);

    // The Java thread with this kernel id is about to end; it keeps the id until Release. Null: it
    // is unknown. `now_ns`: MonotonicNanos.
    ThreadEntry* End(pid_t os_tid, uint64_t now_ns = MonotonicNanos());
    // The last step of a Java thread's end: nothing asks for it by its kernel id any more. It is
    // forgotten, or, if the trace may name it, at the second call of ForgetEnded from here on.
    void Release(uint64_t java_tid);
    // A native thread has ended, or is a Java thread from here on: forgets it, unless it has a
    // number or counters.
    void EndNative(pid_t os_tid);
    // Forgets the thread at the second call of ForgetEnded from here on, as Release does.
    void ReleaseLater(uint64_t java_tid) { table_.ended_now_.push_back(java_tid); }
    // Once a chunk: forgets the threads that had been released at the last call, and passes their
    // numbers.
    void ForgetEnded(absl::FunctionRef<void(uint32_t number)> forget);

    // Kernel ids of Java threads that reported their end since the last call.
    std::vector<pid_t> DrainEndedTids() { return std::exchange(table_.ended_tids_, {}); }
    // The platform threads that run and have a number, sorted by number.
    std::vector<ThreadEntry> Numbered() const;
    // A new trace begins, in which no thread has a number.
    void ClearNumbers();

   private:
    bool HasEnded(uint64_t java_tid) const;
    void RememberEnded(uint64_t java_tid);
    void RememberUnknownEnd(pid_t os_tid, uint64_t now_ns);
    void EraseUnused(uint64_t java_tid);

    ThreadTable& table_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  using JavaThreads = absl::node_hash_map<uint64_t, ThreadEntry>;
  using NativeThreads = absl::node_hash_map<pid_t, ThreadEntry>;

  // ThreadSanitizer knows the order of std::mutex, and not that of the system's Abseil.
  std::mutex mutex_;  // guards what follows
  JavaThreads java_;  // by Thread.threadId()
  NativeThreads native_;
  absl::flat_hash_map<pid_t, uint64_t> java_tid_on_;  // by kernel id, until Release
  // The last platform threads that reported their end, in their order.
  absl::flat_hash_set<uint64_t> ended_java_;
  std::deque<uint64_t> ended_order_;
  // Kernel ids of threads that were unknown when they ended, until a thread that has the same id
  // reports its start.
  absl::flat_hash_map<pid_t, uint64_t> ended_unknown_;  // MonotonicNanos of the end
  static constexpr size_t kMinUnknownEnds = 1024;
  size_t clean_unknown_at_ = kMinUnknownEnds;  // the size at which old ends are erased
  std::vector<pid_t> ended_tids_;              // DrainEndedTids
  // Threads that were released since the last ForgetEnded, and before it.
  std::vector<uint64_t> ended_now_;
  std::vector<uint64_t> ended_before_;
};

}  // namespace jtrace::jvm
