// Numbers of threads: of Java threads by Thread.getId(), of the JVM's own threads by kernel tid.
// Writes thread records (S3.5).
//
// Threads: Start/End on the Java thread of the event; the Find… calls on the writer thread.
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/clock.h"
#include "agent/jvm/env.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

// The numbers of one thread.
struct ThreadNumbers {
  uint32_t number = 0;    // Thread.id in the trace
  uint64_t java_tid = 0;  // Thread.getId()
  pid_t os_tid = 0;
};

// A thread that already runs, with the JVM's structure for it (Thread.eetop).
struct RunningThread {
  ThreadNumbers numbers;
  uintptr_t java_thread = 0;
};

// A Java thread by Thread.getId().
struct KnownThread {
  uint32_t number = 0;  // Thread.id in the trace; 0: none was assigned yet
  bool is_virtual = false;
  std::string name;
};

class ThreadRegistry {
 public:
  ThreadRegistry(jvmtiEnv* env, const SessionClock& clock, trace::RecordEncoder& encoder)
      : env_(env), clock_(clock), encoder_(encoder) {}

  // The current thread, which is `thread`, runs Java code from here on. Also for threads that
  // already ran when the agent was loaded, if called on them.
  ThreadNumbers Start(JNIEnv* jni, jthread thread);
  // A thread that ran before the agent was loaded: defines it with its name, as Start does.
  // `os_tid`: the kernel's id; 0: unknown; below 0: ignore the thread.
  RunningThread Adopt(JNIEnv* jni, jthread thread, absl::FunctionRef<pid_t(uintptr_t)> os_tid);
  // A new trace begins: forgets all threads.
  void Clear();

  // The current thread ends. Makes no JNI call: the thread may not have checked for an exception,
  // and -Xcheck:jni would warn.
  ThreadNumbers End();

  // A platform thread that reported its start, as seen from another thread; number 0: it did not.
  RunningThread FindRunning(JNIEnv* jni, jthread thread);

  // Virtual threads get a number with their first record; until then only a non-empty name is kept.
  void StartVirtual(JNIEnv* jni, jthread thread);
  // Returns the thread's Thread.getId().
  uint64_t EndVirtual(JNIEnv* jni, jthread thread);
  // Once a chunk, after everything else: forgets the threads that had ended at the last call. By
  // then all their records are written.
  void ForgetEnded();

  // Its Thread.getId(), ignoring overrides in subclasses.
  uint64_t JavaTid(JNIEnv* jni, jthread thread) { return fields_.JavaTid(jni, thread); }

  // A thread that did not report its start as a platform thread is treated as virtual.
  KnownThread Find(uint64_t java_tid) const;

  // Number by Thread.getId(); an unknown one is treated as a virtual thread and defined.
  uint32_t NumberOfJava(uint64_t java_tid);
  // The same for a virtual thread that may have ended: the number is forgotten two chunks later.
  uint32_t NumberOfPassing(uint64_t java_tid);
  // Defines a thread of the JVM that runs no Java code, once; `name`: the kernel's.
  uint32_t DefineInternal(pid_t os_tid, absl::string_view name);
  // Its number, if it has one; else 0.
  uint32_t NumberOfNative(pid_t os_tid) const;
  // Kernel tids of threads that reported their end since the last call. They may still run: as
  // native threads that left the JVM, or for the short time until they end.
  std::vector<pid_t> TakeEndedTids();
  // Whether a Java thread with this kernel tid has started.
  bool HasJavaThread(pid_t os_tid) const;

 private:
  struct JavaThread {
    uint32_t number = 0;
    pid_t os_tid = 0;  // 0: a virtual thread
    std::string name;
  };

  // Defines the thread and records that it runs.
  void Define(JNIEnv* jni, jthread thread, ThreadNumbers& numbers);

  jvmtiEnv* env_;
  const SessionClock& clock_;
  trace::RecordEncoder& encoder_;
  ThreadFields fields_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, JavaThread> java_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<pid_t, ThreadNumbers> by_os_tid_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<pid_t, JavaThread> native_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, std::string> virtual_names_ ABSL_GUARDED_BY(mutex_);
  // Since the last ForgetEnded, and before it.
  std::vector<uint64_t> ended_now_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> ended_before_ ABSL_GUARDED_BY(mutex_);
  std::vector<pid_t> ended_tids_ ABSL_GUARDED_BY(mutex_);
};

// Decides which threads share a tree, so that memory, trace and reports do not grow with the number
// of threads that start and end: virtual threads always, platform threads beyond the first
// thousand. Writer thread only.
class ThreadGroups {
 public:
  // Platform threads with their own trees.
  static constexpr size_t kOwnTrees = 1000;
  // Groups by pattern; further names share one group.
  static constexpr size_t kPatterns = 100;

  ThreadGroups(ThreadRegistry& threads, trace::RecordEncoder& encoder)
      : threads_(threads), encoder_(encoder) {}

  // Called once for each thread with a tree: the group it is counted in, which stays the same for
  // the life of the JVM; 0: it gets its own tree.
  uint32_t Assign(uint64_t java_tid, bool is_virtual);
  // A group's number in the trace (Thread.id).
  uint32_t NumberOfGroup(uint32_t group);
  // The number for a thread's records: its own, or its group's.
  uint32_t NumberOfThread(uint64_t java_tid);
  // The group of virtual threads without a name.
  uint32_t VirtualThreads() { return Group("", /*is_virtual=*/true); }
  // The group of threads for whose trees there was no memory.
  uint32_t Unplaced() { return Group("[no memory]", /*is_virtual=*/false); }
  // The group of platform threads that are too many to have a pattern of their own.
  uint32_t MoreThreads() { return Group("", /*is_virtual=*/false); }
  // The group of threads that ended before the file began.
  uint32_t EndedThreads() { return Group("[ended threads]", /*is_virtual=*/false); }
  // The group of what belongs to no thread.
  uint32_t Process() { return Group("[process]", /*is_virtual=*/false); }
  // A new trace begins, in which nothing is defined.
  void Clear();

 private:
  struct GroupInfo {
    std::string name;
    bool is_virtual;
    uint32_t number;  // 0: not defined in this trace
  };
  using ByPattern = absl::flat_hash_map<std::string, uint32_t>;

  uint32_t Group(absl::string_view name, bool is_virtual);

  ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  size_t own_trees_ = 0;
  std::vector<GroupInfo> groups_;  // group 1, 2, …
  ByPattern virtual_groups_;
  ByPattern platform_groups_;
};

}  // namespace jtrace::jvm
