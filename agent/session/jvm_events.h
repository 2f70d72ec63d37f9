// What each of the JVM's events means for the JVM's parts and for a recording.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/recording/gate.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording.h"

namespace jtrace {

// Passes the JVM's events to the parts that need them; to parts of the recording through the gate.
//
// Threads: each function on the thread that JVMTI says (../README.md); GcStart and GcFinish inside
// a safepoint, where neither JNI nor JVMTI may be called.
class JvmEvents {
 public:
  JvmEvents(JvmParts& jvm, Gate<Recording>& gate) : jvm_(jvm), gate_(gate) {}

  void ThreadStart(JNIEnv* jni, jthread thread);
  void ThreadEnd();
  void VirtualThreadStart(JNIEnv* jni, jthread thread);
  void VirtualThreadEnd(JNIEnv* jni, jthread thread);
  // A class is about to be defined from that source.
  void ClassDefine(JNIEnv* jni, jobject loader, const char* name, jobject domain);
  // `redefined`: the class is already loaded, and an agent, perhaps jtrace itself, changes it; else
  // null.
  void ClassFileLoad(jclass redefined, jobject loader, const char* name,
                     std::span<const unsigned char> bytes, jint* new_size,
                     unsigned char** new_bytes);
  void ClassPrepare(jclass klass);
  void ObjectFree(jlong tag);
  void CompiledMethodLoad(jmethodID method, jint size, const void* address,
                          const void* compile_info);
  void CompiledMethodUnload(jmethodID method, const void* address);
  void DynamicCode(const char* name, const void* address, jint size);
  void NativeMethodBind();
  void GcStart();
  void GcFinish();

 private:
  // The calling thread starts; a parent or ancestor may measure its family.
  void JoinFamilies(JNIEnv* jni, uint64_t java_tid);
  // The thread has ended; its totals stay.
  void LeaveFamilies(uint64_t java_tid);
  // Another agent changes the class, to `bytes` and the bytes that follow.
  void ClassRedefine(const Recording* recording, jclass klass, const char* name,
                     std::span<const unsigned char> bytes);

  JvmParts& jvm_;
  Gate<Recording>& gate_;
  std::atomic<uint64_t> gc_count_{0};
};

}  // namespace jtrace
