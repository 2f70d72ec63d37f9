// Fields of java.lang.Thread that the JVM's tables do not have: offsets and values, by Java.
#pragma once

#include <jni.h>

#include <optional>

#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

// The offset of an instance field of java.lang.Thread; kAbsent if unavailable. In VMInit or later,
// on a Java thread.
hot::Offset ThreadFieldOffset(JNIEnv* env, const char* field);

// The value of the current Thread's field of type long: its number is tid, its JavaThread eetop.
// None: there is no such field. On a Java thread.
std::optional<jlong> CurrentThreadField(JNIEnv* env, const char* field);

}  // namespace jtrace::sampling
