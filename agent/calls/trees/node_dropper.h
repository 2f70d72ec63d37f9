// Takes nodes that a thread has cut off out of its tree (S3.14).
#pragma once

#include <cstdint>

#include "agent/calls/trees/grouped_threads.h"
#include "agent/calls/trees/node_reporter.h"
#include "agent/calls/trees/node_state.h"
#include "agent/calls/trees/path_blocks.h"
#include "agent/calls/trees/pruned_totals.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// A dropped node's counts go into the sum below a [pruned] node (PrunedTotals), or a group's tree.
// The node's own memory is the caller's to release. On the writer thread only.
class NodeDropper {
 public:
  // `max_bytes`: the limit for the sums.
  NodeDropper(const signal_safe::Arena* arena, const TreeValues& values, PathBlocks& blocks,
              GroupedThreads& groups, NodeReporter& reporter, uint64_t max_bytes)
      : arena_(arena),
        values_(values),
        blocks_(blocks),
        groups_(groups),
        reporter_(reporter),
        sums_(max_bytes) {}

  // Whether the thread has cut the node off, or it was dropped before.
  bool IsGone(const signal_safe::Node& node) const {
    // Tested first: a dropped node that is its list's last one may outlive its parent.
    return IsDropped(node) ||
           (signal_safe::ReadAcquire(node.flags) & signal_safe::kNodeCutOff) != 0 ||
           IsDropped(*signal_safe::At<signal_safe::Node>(arena_, node.parent));
  }
  // Drops a node that is gone and was not dropped yet.
  void Drop(signal_safe::Node& node);
  // Returns the nearest node above a dropped one that was not dropped.
  signal_safe::Node& KeptAbove(const signal_safe::Node& node) const;

  // Reports the sums that changed since the last time.
  void ReportSums();
  void BeginFile() { sums_.BeginFile(); }
  bool has_sums() const { return !sums_.empty(); }
  // Removes the sums below a node whose thread has ended.
  void Forget(const signal_safe::Node& node) { sums_.Erase(signal_safe::RefOf(arena_, &node)); }
  uint64_t memory_bytes() const { return sums_.memory_bytes(); }

 private:
  signal_safe::Node& RootAbove(const signal_safe::Node& node) const;
  // Returns the counts in this file of a node that is dropped, and forgets its blocks.
  PrunedTotals::Sum RemoveCounts(const signal_safe::Node& node);
  void DropNumber(signal_safe::Node& node, signal_safe::Node& kept);
  void ReportBelow(signal_safe::Node& kept, PrunedTotals::Below& below);

  const signal_safe::Arena* const arena_;
  const TreeValues& values_;
  PathBlocks& blocks_;
  GroupedThreads& groups_;
  NodeReporter& reporter_;
  PrunedTotals sums_;
};

}  // namespace jtrace::calls
