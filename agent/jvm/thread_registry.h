// Numbers of threads in the trace, and their records: thread starts and ends (S3.5).
//
// Threads: Start and End on the Java thread of the event; the rest on any, unless noted.
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "agent/base/clock.h"
#include "agent/jvm/thread_fields.h"
#include "agent/jvm/thread_table.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvm {

// The numbers of one thread.
struct TraceThreadIds {
  uint32_t number = 0;    // Thread.id in the trace
  uint64_t java_tid = 0;  // Thread.threadId()
  pid_t os_tid = 0;
};

// A thread that already runs, with the JVM's structure for it (Thread.eetop).
struct RunningThread {
  TraceThreadIds numbers;
  uintptr_t java_thread = 0;
};

// A Java thread by Thread.threadId().
struct KnownThread {
  uint32_t number = 0;  // Thread.id in the trace; 0: none was assigned yet
  bool is_virtual = false;
  std::string name;
};

class ThreadRegistry {
 public:
  ThreadRegistry(ThreadTable& table, jvmtiEnv* env, const RecordingClock& clock,
                 trace::RecordEncoder& encoder)
      : table_(table), env_(env), clock_(clock), encoder_(encoder) {}

  // The current thread, which is `thread`, runs Java code from here on: defines it and records its
  // start. Also for a thread that already ran when the agent was loaded, if called on it.
  TraceThreadIds Start(JNIEnv* jni, jthread thread);
  // Defines a thread that ran before the agent was loaded, as Start does. `os_tid` returns the
  // kernel's id of a JavaThread; 0: unknown; below 0: ignore the thread.
  RunningThread Adopt(JNIEnv* jni, jthread thread, absl::FunctionRef<pid_t(uintptr_t)> os_tid);
  // A new trace begins: no thread has a number.
  void Clear();

  // Records that the current thread ends. Makes no JNI call: the thread may not have checked for an
  // exception, and -Xcheck:jni would warn.
  TraceThreadIds End();
  // The last step of a thread's end. Its name and number are known until everything that was
  // recorded before is written.
  void Release(uint64_t java_tid);

  // Finds a platform thread that reported its start, on any thread. Number 0: it did not report it.
  RunningThread FindRunning(JNIEnv* jni, jthread thread);
  // Returns the platform threads that run and have a number, sorted by number.
  std::vector<RunningThread> Running();

  // Virtual threads get a number with their first record; until then only a non-empty name is kept.
  void StartVirtual(JNIEnv* jni, jthread thread);
  // Once a chunk, after everything else: forgets the threads that had been released at the last
  // call. By then all their records are written.
  void ForgetEnded();

  // Returns a thread's Thread.threadId(), ignoring overrides in subclasses.
  uint64_t JavaTid(JNIEnv* jni, jthread thread) { return fields_.JavaTid(jni, thread); }

  // Finds a Java thread; as virtual, if it has not reported its start as a platform thread.
  KnownThread Find(uint64_t java_tid);

  // Returns the number of a Java thread. Defines it if it has none; an unknown one as virtual.
  uint32_t NumberOfJava(uint64_t java_tid);
  // The same for a virtual thread that may have ended: its number is forgotten two chunks later,
  // unless the thread has reported its start.
  uint32_t NumberOfEphemeral(uint64_t java_tid);
  // Defines a thread of the JVM that runs no Java code; `name`: the kernel's. Its number is used
  // again for a thread with the same kernel id and name.
  uint32_t DefineNative(pid_t os_tid, absl::string_view name);
  // Returns the number of a thread that runs no Java code; 0: it has none.
  uint32_t NumberOfNative(pid_t os_tid);
  // Returns the kernel's ids of Java threads that reported their end since the last call. They may
  // still run: as native threads that left the JVM, or for the short time until they end.
  std::vector<pid_t> DrainEndedTids();
  // Whether a Java thread with this kernel tid has started.
  bool HasJavaThread(pid_t os_tid);

 private:
  // Defines the thread, unless it has a number, and records that it runs.
  TraceThreadIds Define(JNIEnv* jni, jthread thread, const ThreadIdentity& identity);

  ThreadTable& table_;
  jvmtiEnv* env_;
  const RecordingClock& clock_;
  trace::RecordEncoder& encoder_;
  ThreadFields fields_;
};

}  // namespace jtrace::jvm
