// Finding a thread's state from its id, in any context.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace::hot {

// The arena of the installed probes; null: none. Never unmapped once published.
extern constinit std::atomic<Arena*> published_arena;

// The state of the thread `tid`, or null if it entered no probed method yet. Async-signal-safe.
// Memory of ended threads is reused (StateRecycler); a search that may have read it is repeated.
ThreadState* FindThreadState(const Arena* arena, uint64_t tid);

// Notifies the collector that the thread runs no more Java code: it reports the tree once more and
// then reuses its memory. On the ending thread (JVMTI ThreadEnd, VirtualThreadEnd).
void MarkThreadEnded(Arena* arena, uint64_t tid);

}  // namespace jtrace::hot
