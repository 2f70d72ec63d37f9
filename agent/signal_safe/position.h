// The call position of a thread: its current node in its call tree, as its signal handlers read it.
//
// A handler may interrupt a probe at any instruction. The probe moves the position by one store, to
// ThreadState::current, after a new node is complete. So the handler finds the old or the new node;
// at worst the call is counted and the position is not moved yet. Nodes that were cut off, and
// trees of ended threads, stay readable until samples that may name them were read
// (calls/trees/memory_recyclers.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal_safe/probe_memory.h"

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

// Finding a thread's state from its id, in any context.

// The arena of the installed probes; null: none. Never unmapped once published.
extern constinit std::atomic<Arena*> published_arena;

// Returns the state of the thread, or null if it entered no probed method yet. Repeats a
// search that may have read an ended thread's reused memory (StateRecycler). Async-signal-safe.
ThreadState* FindThreadState(const Arena* arena, uint64_t java_tid);

// Notifies the collector that the thread runs no more Java code: it reports the tree once more and
// then reuses its memory. On the ending thread (JVMTI ThreadEnd, VirtualThreadEnd).
void NotifyThreadEnded(Arena* arena, uint64_t java_tid);

// The way from a node of a calling-context tree up to its root. Async-signal-safe, any thread.
//
// It ends at the root, and also where links leave the arena or form a circle: a thread may change
// its tree meanwhile, and code that runs on two threads (a continuation of the program's own) may
// link nodes of two trees, one of which is released and used again.
class RootPath {
 public:
  RootPath(const Arena* arena, const Node& node)
      : arena_(arena), node_(&node), checkpoint_(&node) {}

  Node& operator*() const { return const_cast<Node&>(*node_); }
  Node* operator->() const { return &**this; }
  bool IsAtRoot() const { return ReadRelaxed(node_->routine) == 0; }

  // Moves to the parent. Returns false, and stays, if there is none.
  bool Up() { return To(ReadRelaxed(node_->parent)); }
  // Moves to a node further up in the same way.
  bool To(Ref ref) {
    const uint64_t offset = uint64_t{ref} << kGranuleShift;
    if (IsAtRoot() || ref == 0 || offset >= ReadRelaxed(arena_->next)) return false;
    const Node* const above = At<Node>(arena_, ref);
    if (above == checkpoint_) return false;
    // Brent's algorithm: in a circle, a climb from the checkpoint sooner or later comes back.
    ++steps_;
    if ((steps_ & (steps_ - 1)) == 0) checkpoint_ = above;
    node_ = above;
    return true;
  }

 private:
  const Arena* const arena_;
  const Node* node_;
  const Node* checkpoint_;
  uint64_t steps_ = 0;
};

}  // namespace jtrace::signal_safe
