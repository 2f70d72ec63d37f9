// Who the threads of this JVM are: the one place that knows which ids belong to which thread.
//
// Others keep only their own data of a thread: ThreadRegistry writes its records, ThreadCounters
// its counters, the sampler its timer, by the kernel's id that the timer needs. Lives as long as
// the JVM, across recordings. Signal handlers and probes do not use it.
//
// Threads: any. One mutex, held for plain memory only; of the agent's other mutexes only the
// encoder's is taken inside of it. No event inside a safepoint takes it.
//
// Ids that are used again, and threads that are seen too late:
// - Java gives a Thread.getId() to one thread only.
// - The kernel gives the id of an ended thread to a new one. A thread that reports its start has
//   its id from then on: another one that is known by it has ended (Start). A listed thread whose
//   id belongs to another one that reported its start has ended, too (Adopt).
// - A thread that is listed may end before the list is read. A thread that has reported its end is
//   never adopted; of a thread that was unknown when it ended only the kernel's id is known. Until
//   a thread reports its start by that id, a listed thread that has it may be gone, so the JVM's
//   structure for it must not be read (MayBeGone).
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
#include "agent/signal_safe/counter_block.h"

namespace jtrace::jvm {

struct ThreadIdentity {
  uint64_t java_tid = 0;      // Thread.getId(), ignoring overrides in subclasses; 0: none
  pid_t os_tid = 0;           // the kernel's id; 0: a virtual thread, or unknown
  uintptr_t java_thread = 0;  // the JVM's structure (Thread.eetop); 0: none, or unknown
};

struct ThreadEntry {
  ThreadIdentity identity;
  uint32_t number = 0;  // Thread.id in the trace; 0: none yet
  bool has_ended = false;
  std::string name;  // as in the trace; of a virtual thread also before it has a number
  // Of metrics::ThreadCounters, which sets it, under that class's mutex. Null: it is not counted.
  signal_safe::CounterBlock* counters = nullptr;
};

class ThreadTable {
 public:
  // Ended threads that are remembered, so that none of them is adopted.
  static constexpr size_t kMaxEnded = 16384;
  // Native threads that are remembered, and reported ends that nobody has asked for yet.
  static constexpr size_t kMaxKernelIds = 1 << 16;

  // Access to the table, which holds its mutex. Entries must not be used after it.
  class Access {
   public:
    explicit Access(ThreadTable& table) : table_(table), lock_(table.mutex_) {}

    // Null: unknown.
    ThreadEntry* OfJava(uint64_t java_tid);
    // The Java thread with the kernel's id, also while it ends. Null: there is none.
    ThreadEntry* JavaOn(pid_t os_tid);
    // The kernel's thread while it runs no Java code. Null: unknown.
    ThreadEntry* NativeOn(pid_t os_tid);

    // A platform thread reports its start. Called by itself, also more than once.
    ThreadEntry& Start(const ThreadIdentity& identity);
    // A listed thread, which runs. Null: it has ended.
    ThreadEntry* Adopt(const ThreadIdentity& identity);
    // Whether a listed thread with these ids may have ended.
    bool MayBeGone(uint64_t java_tid, pid_t os_tid) const;
    // A virtual thread, or one whose kind is unknown; made if it is new.
    ThreadEntry& Virtual(uint64_t java_tid);
    // A thread that runs no Java code; made if it is new.
    ThreadEntry& Native(pid_t os_tid);

    // The Java thread with this kernel id is about to end; it keeps the id until Release. Null: it
    // is unknown.
    ThreadEntry* End(pid_t os_tid);
    // The last step of a Java thread's end: nothing asks for it by its kernel id any more. It is
    // forgotten, or, if the trace may name it, at the second call of ForgetEnded from here on.
    void Release(uint64_t java_tid);
    // A native thread has ended, or is a Java thread from here on: it is forgotten, unless it has a
    // number.
    void EndNative(pid_t os_tid);
    // The trace may name the thread, whose end may have been reported before: as Release.
    void ReleaseLater(uint64_t java_tid) { table_.ended_now_.push_back(java_tid); }
    // Once a chunk: forgets the threads that had been released at the last call, and passes their
    // numbers.
    void ForgetEnded(absl::FunctionRef<void(uint32_t number)> forget);

    // Kernel ids of Java threads that reported their end since the last call.
    std::vector<pid_t> EndedSinceLastCall() { return std::exchange(table_.ended_tids_, {}); }
    // The platform threads that run and have a number, by number.
    std::vector<ThreadEntry> Numbered() const;
    // A new trace begins, in which no thread has a number.
    void ClearNumbers();

   private:
    bool HasEnded(uint64_t java_tid) const;
    void RememberEnded(uint64_t java_tid);
    void EraseUnused(uint64_t java_tid);

    ThreadTable& table_;
    const std::lock_guard<std::mutex> lock_;
  };

 private:
  using JavaThreads = absl::node_hash_map<uint64_t, ThreadEntry>;
  using NativeThreads = absl::node_hash_map<pid_t, ThreadEntry>;

  // ThreadSanitizer knows the order of std::mutex, and not that of the system's Abseil.
  std::mutex mutex_;  // guards what follows
  JavaThreads java_;  // by Thread.getId()
  NativeThreads native_;
  absl::flat_hash_map<pid_t, uint64_t> java_tid_on_;  // by kernel id, until Release
  // The last platform threads that reported their end, in their order.
  absl::flat_hash_set<uint64_t> ended_java_;
  std::deque<uint64_t> ended_order_;
  // Of threads that were unknown when they ended; the kernel has not given them to others since, as
  // far as is known.
  absl::flat_hash_set<pid_t> ended_unknown_;
  std::vector<pid_t> ended_tids_;
  // Released since the last ForgetEnded, and before it.
  std::vector<uint64_t> ended_now_;
  std::vector<uint64_t> ended_before_;
};

}  // namespace jtrace::jvm
