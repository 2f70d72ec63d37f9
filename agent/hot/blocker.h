// What a waiting thread waits on: the class of the monitor's object, or of a park's blocker.
#ifndef JTRACE_AGENT_HOT_BLOCKER_H_
#define JTRACE_AGENT_HOT_BLOCKER_H_

#include <cstdint>

#include "agent/hot/heap_layout.h"
#include "agent/hot/thread_activity.h"

namespace jtrace::hot {

// False: the thread waits on something, or may, that could not be read now (a collection moved
// objects meanwhile) or cannot be read at all (HeapLayout::readable). Else `klass` is the JVM's
// Klass of the object, 0 if the thread waits on none.
//
// On the waiting thread itself, in its signal handler: what its JavaThread refers to cannot end
// meanwhile. The object keeps its class alive; that the Klass is one is checked, and who looks it
// up later (ClassRegistry::ClassOf) knows it as a class that was reported or not at all.
// `java_thread` must not be 0. Async-signal-safe; every load is guarded.
[[nodiscard]] bool FindBlocker(const HeapLayout& heap, uintptr_t java_thread, Activity activity,
                               uintptr_t* klass);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_BLOCKER_H_
