// Offsets of fields in Java objects, requested from Java: the JVM's tables do not have them.
#pragma once

#include <jni.h>

#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

// The offset of an instance field of java.lang.Thread; kAbsent if unavailable. In VMInit or later,
// on a Java thread.
hot::Offset ThreadFieldOffset(JNIEnv* env, const char* field);

}  // namespace jtrace::sampling
