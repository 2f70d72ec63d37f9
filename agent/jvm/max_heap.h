// The limit of the Java heap.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::jvm {

// Bytes to which the Java heap may grow (Runtime.maxMemory); 0 if unknown. In VMInit or later, on a
// thread of the JVM; leaves no Java exception pending.
uint64_t MaxHeap(JNIEnv* jni);

}  // namespace jtrace::jvm
