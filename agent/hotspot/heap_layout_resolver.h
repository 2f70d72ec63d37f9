// Fills HeapLayout from the JVM's tables, if its collector allows references to be followed.
#pragma once

#include <jni.h>

#include "agent/hot/memory/heap_layout.h"
#include "agent/hotspot/jvm_flags.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::sampling {

// Whether the collector in use moves objects only in pauses, or leaves the class in the header of
// moved objects until nothing refers to them.
bool IsKnownCollector(const JvmFlags& flags);

// In VMInit or later, on a Java thread. HeapLayout::readable stays false if a field is missing,
// with ZGC, whose references contain more than an address and whose objects move at any time, and
// with unknown collectors.
hot::HeapLayout ResolveHeapLayout(const VmStructs& structs, const JvmFlags& flags, JNIEnv* env);

}  // namespace jtrace::sampling
