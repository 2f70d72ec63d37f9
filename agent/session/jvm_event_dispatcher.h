// What each of the JVM's events means for the JVM's parts and for a recording.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/recording/agent_state.h"
#include "agent/recording/gate.h"
#include "agent/recording/recording.h"

namespace jtrace {

// Passes the JVM's events to what needs them; to the parts of the recording through the gate.
//
// Threads: each function on the thread that JVMTI says (../README.md); GcStart and GcFinish, and
// ObjectFree in JDK 11 to 15, inside a safepoint, where neither JNI nor JVMTI may be called.
class JvmEventDispatcher {
 public:
  JvmEventDispatcher(AgentState& agent, Gate<Recording>& gate)
      : agent_(agent), jvm_(agent.jvm), gate_(gate) {}

  void ThreadStart(JNIEnv* jni, jthread thread);
  void ThreadEnd();
  void VirtualThreadStart(JNIEnv* jni, jthread thread);
  void VirtualThreadEnd(JNIEnv* jni, jthread thread);
  // A class is about to be defined. `domain`: its ProtectionDomain, which has its code source.
  void ClassDefine(JNIEnv* jni, jobject loader, const char* name, jobject domain);
  // `redefined`: the class that is changed by an agent, perhaps jtrace itself; null: it is being
  // loaded. Sets `new_size` and `new_bytes` only if the class gets other bytes.
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
  // Adds a thread that starts to the descendants of the threads that measure them.
  void JoinDescendants(JNIEnv* jni, uint64_t java_tid);
  // Takes an ended thread out of the descendants, whose totals keep its own.
  void LeaveDescendants(uint64_t java_tid);
  // Keeps the bytes to which another agent changes the class, and records the change.
  void ClassRedefine(const Recording* recording, jclass klass, const char* name,
                     std::span<const unsigned char> bytes);

  AgentState& agent_;
  JvmState& jvm_;  // of agent_
  Gate<Recording>& gate_;
  std::atomic<uint64_t> gc_count_{0};
};

}  // namespace jtrace
