// The way from a node of a calling-context tree up to its root: for readers of a tree that its
// thread changes meanwhile. Async-signal-safe, any thread.
#pragma once

#include <cstdint>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::signal_safe {

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
