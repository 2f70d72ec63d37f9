// Threads by number: those of Java by their Thread.getId(), those of the JVM itself by their
// kernel tid. Writes thread records (S3.5).
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
#include "absl/synchronization/mutex.h"
#include "agent/base/clock.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::jvmti {

struct ThreadNumbers {
  uint32_t number = 0;    // Thread.id in the trace
  uint64_t java_tid = 0;  // Thread.getId()
  pid_t os_tid = 0;
};

// A thread that runs already, with the JVM's own structure for it (Thread.eetop).
struct RunningThread {
  ThreadNumbers numbers;
  uintptr_t java_thread = 0;
};

// A Java thread by Thread.getId().
struct KnownThread {
  uint32_t number = 0;  // Thread.id in the trace; 0: none was given yet
  bool is_virtual = false;
  std::string name;
};

class ThreadRegistry {
 public:
  ThreadRegistry(jvmtiEnv* env, const SessionClock& clock, writer::RecordEncoder& encoder)
      : env_(env), clock_(clock), encoder_(encoder) {}

  // The current thread, which is `thread`, runs Java code from here on. Also for threads that ran
  // already when the agent came up, if called on them.
  ThreadNumbers Start(JNIEnv* jni, jthread thread);
  // A thread that ran before the agent came: defined with its name, as Start does for its own.
  // `os_tid`: the kernel's id; 0: not known; below 0: the thread is to be left out.
  RunningThread Adopt(JNIEnv* jni, jthread thread, absl::FunctionRef<pid_t(uintptr_t)> os_tid);
  // A new trace begins: nothing is known of any thread.
  void Clear();

  // The current thread ends. Makes no JNI call: the thread may have a check of an exception owing,
  // of which -Xcheck:jni would warn.
  ThreadNumbers End();

  // A platform thread that reported its start, seen from another thread; number 0: it did not.
  RunningThread FindRunning(JNIEnv* jni, jthread thread);

  // Virtual threads get a number when something is recorded of them, not before; until then only a
  // name that is not empty is kept.
  void StartVirtual(JNIEnv* jni, jthread thread);
  // Returns the thread's Thread.getId().
  uint64_t EndVirtual(JNIEnv* jni, jthread thread);
  // Once a chunk, after all else: forgets the threads that had ended at the last call. By then all
  // that was recorded of them is written.
  void ForgetEnded();

  // Its Thread.getId(), whatever a subclass says.
  uint64_t JavaTid(JNIEnv* jni, jthread thread);

  // A thread that did not report its start as a platform thread is taken for a virtual one.
  KnownThread Find(uint64_t java_tid) const;

  // Number by Thread.getId(); an unknown one is taken for a virtual thread and defined.
  uint32_t NumberOfJava(uint64_t java_tid);
  // Defines a thread of the JVM that runs no Java code; `name` as the kernel knows it.
  uint32_t DefineInternal(pid_t os_tid, absl::string_view name);
  // Kernel tids of threads that reported their end since the last call. They may live on: as native
  // code that left the JVM, or for the moment that it takes to end.
  std::vector<pid_t> TakeEndedTids();
  // Whether a Java thread with this kernel tid has started.
  bool KnowsJavaThread(pid_t os_tid) const;

 private:
  struct JavaThread {
    uint32_t number = 0;
    pid_t os_tid = 0;  // 0: a virtual thread
    std::string name;
  };

  struct Fields {
    jfieldID tid = nullptr;
    jfieldID eetop = nullptr;
  };

  // Defines the thread and records that it runs.
  void Define(JNIEnv* jni, jthread thread, ThreadNumbers& numbers);
  // The fields of java.lang.Thread, looked up at the first call.
  Fields ThreadFields(JNIEnv* jni);

  jvmtiEnv* env_;
  const SessionClock& clock_;
  writer::RecordEncoder& encoder_;
  mutable absl::Mutex mutex_;
  Fields fields_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, JavaThread> java_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<pid_t, ThreadNumbers> by_os_tid_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, std::string> virtual_names_ ABSL_GUARDED_BY(mutex_);
  // Since the last ForgetEnded, and before it.
  std::vector<uint64_t> ended_now_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> ended_before_ ABSL_GUARDED_BY(mutex_);
  std::vector<pid_t> ended_tids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::jvmti
