// The call position of a thread: its current node in its call tree, as its signal handlers read it.
//
// A handler may interrupt a probe at any instruction. The probe moves the position by one store, to
// ThreadState::current, after a new node is complete. So the handler finds the old or the new node;
// at worst the call is counted and the position is not moved yet. Nodes that were cut off, and
// trees of ended threads, stay readable until samples that may name them were read
// (calls/trees/memory_recyclers.h).
#pragma once

#include <cstdint>

namespace jtrace::signal_safe {

inline constexpr int kPositionCallSiteShift = 32;

struct Position {
  uint64_t java_tid;  // Thread.threadId() of the thread the tree belongs to
  // The current node's Ref in the low 32 bits, its Node::call_site above them; 0: the root.
  uint64_t node;
  bool known;  // false: no tree is known for that thread
};

// Reads the position of the thread `java_tid`, on that thread itself (for a virtual thread: on its
// carrier). Async-signal-safe.
using PositionReader = Position (*)(uint64_t java_tid);

// The PositionReader for the trees of the probes: `node` is for TreeCollector::NumberOf.
Position ReadPosition(uint64_t java_tid);

// Writes the routines of the thread's current node and of the nodes above it (methods with probes,
// and calls out of scope) into `routines`, innermost first, at most `most`, which is not 0. Returns
// how many. On that thread itself.
uint32_t ReadCallPath(uint64_t java_tid, uint32_t* routines, uint32_t most);

}  // namespace jtrace::signal_safe
