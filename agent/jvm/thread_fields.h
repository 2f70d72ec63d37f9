// The fields of java.lang.Thread that say which thread it is.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/jvm/thread_table.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Reads fields of any Thread without calling Java. Any Java thread.
class ThreadFields {
 public:
  // Returns Thread.getId() and the JVM's structure; os_tid stays 0. Zeros: the JVM is short of
  // memory or stack; the next call tries again.
  ThreadIdentity Of(JNIEnv* jni, jthread thread);
  uint64_t JavaTid(JNIEnv* jni, jthread thread);

 private:
  bool Find(JNIEnv* jni);

  std::atomic<jfieldID> tid_{nullptr};
  std::atomic<jfieldID> eetop_{nullptr};  // stored last: then both are known
};

// Returns the offset in bytes of an instance field of Thread; kAbsent if unavailable. In VMInit or
// later, on a Java thread; calls Java.
samples::Offset ThreadFieldOffset(JNIEnv* env, const char* field);

// Returns a field of type long of the current Thread: "tid" is its number, "eetop" its JavaThread.
// None: there is no such field. On a Java thread; calls Java.
std::optional<jlong> CurrentThreadField(JNIEnv* env, const char* field);

}  // namespace jtrace::jvm
