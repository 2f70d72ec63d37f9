// The fields of java.lang.Thread that say which thread it is.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "agent/jvm/thread_table.h"

namespace jtrace::jvm {

// Reads fields of any Thread without calling Java. Any Java thread.
class ThreadFields {
 public:
  // Returns Thread.threadId() and the JVM's structure; os_tid stays 0. Zeros: the JVM is short of
  // memory or stack; the next call tries again.
  ThreadIdentity Of(JNIEnv* jni, jthread thread);
  // Returns Thread.threadId(), ignoring overrides in subclasses; 0: as for Of.
  uint64_t JavaTid(JNIEnv* jni, jthread thread);

 private:
  bool Find(JNIEnv* jni);

  std::atomic<jfieldID> tid_{nullptr};
  std::atomic<jfieldID> eetop_{nullptr};  // stored last: then both are known
};

}  // namespace jtrace::jvm
