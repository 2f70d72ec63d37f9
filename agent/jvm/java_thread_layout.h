// Where this JVM's threads keep their identity and their allocated bytes.
#pragma once

#include <jni.h>
#include <sys/types.h>

#include <cstdint>

#include "agent/signal_safe/counter_block.h"

namespace jtrace::jvm {

// By HotSpot's exported tables; fields that this JVM does not have are 0.
struct JavaThreadLayout {
  signal_safe::AllocLayout allocated;
  uint32_t os_thread = 0;     // of a JavaThread
  uint32_t os_thread_id = 0;  // of its OSThread
};

// `libjvm_address`: any address in libjvm. On the thread of a start.
JavaThreadLayout ReadJavaThreadLayout(const void* libjvm_address);

// Whether an array that this allocates on the current Java thread is counted there. False, too, if
// the JVM has no count.
bool CountsAllocations(JNIEnv* env, const signal_safe::AllocLayout& layout);

// The kernel's id of a running JavaThread; 0: unknown.
pid_t OsThreadIdOf(const JavaThreadLayout& layout, uint64_t java_thread);

}  // namespace jtrace::jvm
