// Where this JVM's threads keep their identity and their allocated bytes: offsets in HotSpot's
// JavaThread and in java.lang.Thread.
#pragma once

#include <jni.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "agent/samples/walk/vm_layout.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::jvm {

// Offsets in bytes, from HotSpot's exported tables; 0: this JVM has no such field.
struct JavaThreadLayout {
  signal_safe::AllocLayout allocated;
  uint32_t os_thread = 0;     // in JavaThread: pointer to its OSThread
  uint32_t os_thread_id = 0;  // in OSThread: the kernel's id
};

// `libjvm_address`: any address in libjvm. Called on the thread of a start.
JavaThreadLayout ReadJavaThreadLayout(const void* libjvm_address);

// Allocates arrays on the current Java thread. Returns whether the thread's count of allocated
// bytes grows by their size; false also if the JVM has no count.
bool CountsAllocations(JNIEnv* env, const signal_safe::AllocLayout& layout);

// The kernel's id of a running JavaThread; 0: unknown.
pid_t OsThreadIdOf(const JavaThreadLayout& layout, uint64_t java_thread);

// Returns the offset in bytes of an instance field of Thread; kAbsent if unavailable. In VMInit or
// later, on a Java thread; calls Java.
samples::Offset ThreadFieldOffset(JNIEnv* env, const char* field);

// Returns a field of type long of the current Thread: "tid" is its number, "eetop" its JavaThread.
// None: there is no such field. On a Java thread; calls Java.
std::optional<jlong> CurrentThreadField(JNIEnv* env, const char* field);

}  // namespace jtrace::jvm
