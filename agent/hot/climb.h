// The way from a node of a calling-context tree up to its root. Async-signal-safe, any thread.
#pragma once

#include <cstdint>

#include "agent/hot/layout.h"

namespace jtrace::hot {

// Ends at the root, and also where links are not those of a tree: outside of the arena, or in a
// circle. A thread may change its tree meanwhile, and code that runs on two threads (a continuation
// of the program's own) may link nodes of two trees, one of which is released and used again.
class Climb {
 public:
  Climb(const Arena* arena, const Node& node) : arena_(arena), node_(&node), mark_(&node) {}

  Node& operator*() const { return const_cast<Node&>(*node_); }
  Node* operator->() const { return &**this; }
  bool IsAtRoot() const { return ReadRelaxed(node_->routine) == 0; }

  // To the parent; false: there is none, and nothing has changed.
  bool Up() { return To(ReadRelaxed(node_->parent)); }
  // The same to a node further up.
  bool To(Ref ref) {
    const uint64_t offset = uint64_t{ref} << kGranuleShift;
    if (IsAtRoot() || ref == 0 || offset >= ReadRelaxed(arena_->next)) return false;
    const Node* const above = At<Node>(arena_, ref);
    if (above == mark_) return false;
    // In a circle, the mark is sooner or later followed by all of it (Brent's algorithm).
    ++steps_;
    if ((steps_ & (steps_ - 1)) == 0) mark_ = above;
    node_ = above;
    return true;
  }

 private:
  const Arena* const arena_;
  const Node* node_;
  const Node* mark_;
  uint64_t steps_ = 0;
};

}  // namespace jtrace::hot
