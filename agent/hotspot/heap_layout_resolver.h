// Fills HeapLayout from the JVM's own tables, as far as its collector lets references be followed.
#pragma once

#include <jni.h>

#include "agent/hot/memory/heap_layout.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::sampling {

// In VMInit or later, on a Java thread. HeapLayout::readable stays false where a field is missing,
// with ZGC, whose references hold more than an address and whose objects move at any time, and with
// collectors that are not known.
hot::HeapLayout ResolveHeapLayout(const VmStructs& structs, JNIEnv* env);

}  // namespace jtrace::sampling
