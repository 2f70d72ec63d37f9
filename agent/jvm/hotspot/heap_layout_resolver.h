// Fills the HeapLayout with which signal handlers read Java objects, from the JVM's tables.
#pragma once

#include <jni.h>

#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/signal_safe/heap_layout.h"

namespace jtrace::jvm {

// Whether the collector in use moves objects only in pauses, or leaves the class in the header of
// moved objects until nothing refers to them.
bool IsKnownCollector(const JvmFlags& flags);

// Fills a HeapLayout, in VMInit or later, on a Java thread. HeapLayout::readable stays false if a
// field is missing, with unknown collectors, and with ZGC, whose references contain more than an
// address and whose objects move at any time.
signal_safe::HeapLayout ResolveHeapLayout(const VmStructs& structs, const JvmFlags& flags,
                                          JNIEnv* env);

}  // namespace jtrace::jvm
