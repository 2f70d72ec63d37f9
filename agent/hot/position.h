// A thread's place in its call tree, as a sample sees it.
#pragma once

#include <cstdint>

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

}  // namespace jtrace::hot
