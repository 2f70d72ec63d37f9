// Reads from a thread's objects, in its signal handler: what it waits on (the class of the
// monitor's object, or of a park's blocker), and which java.lang.Thread it is.
#pragma once

#include <cstdint>

#include "agent/hot/memory/heap_layout.h"
#include "agent/hot/thread_activity.h"

namespace jtrace::hot {

// False: the thread waits on something, or may, that could not be read now (a collection moved
// objects meanwhile) or cannot be read at all (HeapLayout::readable). Else `klass` is the JVM's
// Klass of the object, 0 if the thread waits on none.
//
// On the waiting thread itself, in its signal handler: objects that its JavaThread refers to cannot
// be freed meanwhile. The object keeps its class alive; that the Klass is one is checked, and a
// later lookup (ClassRegistry::ClassOf) knows it as a reported class or not at all. `java_thread`
// must not be 0. Async-signal-safe; every load is guarded.
[[nodiscard]] bool FindBlocker(const HeapLayout& heap, uintptr_t java_thread, Activity activity,
                               uintptr_t* klass);

// The id of the java.lang.Thread that the JavaThread runs, a mounted virtual one first. False if it
// cannot be read, or not now. As above.
[[nodiscard]] bool FindThreadId(const HeapLayout& heap, uintptr_t java_thread, uint64_t* id);

}  // namespace jtrace::hot
