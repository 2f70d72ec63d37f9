// A thread's place in its call tree, as a sample sees it.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace::hot {

inline constexpr int kPositionPlaceShift = 32;

struct Position {
  uint64_t java_tid;  // Thread.threadId() of the thread the tree belongs to
  uint64_t node;      // the current node's Ref, below its `place` << kPositionPlaceShift; 0: root
  bool known;         // false: no tree is known for that thread
};

// Reads the position of the thread `java_tid`, async-signal-safe, on that thread itself (for a
// virtual thread: on its carrier).
using PositionReader = Position (*)(uint64_t java_tid);

// The PositionReader for the trees of the probes: `node` is for TreeCollector::TraceNode.
Position ReadPosition(uint64_t java_tid);

// The routines of the thread's current node and of the nodes above it, innermost first, at most
// `most` of them into `routines`: methods with probes, and what they call. Returns how many. On
// that thread itself.
uint32_t ReadRoutines(uint64_t java_tid, uint32_t* routines, uint32_t most);

// Finding a thread's state from its id, in any context.

// The arena of the installed probes; null: none. Never unmapped once published.
extern constinit std::atomic<Arena*> published_arena;

// The state of the thread `tid`, or null if it entered no probed method yet. Async-signal-safe.
// Memory of ended threads is reused (StateRecycler); a search that may have read it is repeated.
ThreadState* FindThreadState(const Arena* arena, uint64_t tid);

// Notifies the collector that the thread runs no more Java code: it reports the tree once more and
// then reuses its memory. On the ending thread (JVMTI ThreadEnd, VirtualThreadEnd).
void MarkThreadEnded(Arena* arena, uint64_t tid);

}  // namespace jtrace::hot
