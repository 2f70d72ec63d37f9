// What TreeCollector reports of call trees, and the limits that it keeps to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "agent/calls/trees/tree_values.h"

namespace jtrace::calls {

// A node that is new or whose counts changed. Counts are totals of the file.
struct NodeUpdate {
  uint32_t node;     // number in the trace, from 1 on; never used for another node
  uint32_t parent;   // 0: the thread's root
  uint32_t routine;  // as pushed by the rewritten method; 0: a [pruned] node
  bool is_new;
  uint64_t calls;
  uint64_t jitted;  // of `calls`
  NodeValues values = {};
  bool pruned = false;     // dropped: its counts are below a [pruned] node
  uint32_t caller = 0;     // sites=on: the parent's routine, and the number of the call site in
  uint32_t call_site = 0;  // it that the calls are from; 0: unknown
};

// The changes in one thread's tree, or in the common tree of a group of threads; valid during the
// visit. Parents are before children.
struct TreeUpdate {
  uint64_t java_tid = 0;  // 0: a group's
  uint32_t group = 0;     // as GroupedThreads::GroupOf named it; 0: a thread's own tree
  bool ended = false;     // the thread's last update
  uint64_t members = 0;   // threads counted in a group's tree so far
  NodeValues root = {};   // of the root, which has no number: metrics outside of probed methods
  absl::Span<const NodeUpdate> nodes = {};
};

// The memory that trees may use, and the size of updates.
struct TreeLimits {
  uint64_t arena_bytes = 64ull << 30;   // limit of the threads' trees
  uint64_t groups_bytes = 16ull << 30;  // limit of the groups' trees
  double prune_percent = 0;             // 0: nothing is pruned by the collector
  double exit_percent = 0;              // 0: nothing is pruned when an activation ends
  size_t max_updates = 1 << 16;         // a tree is reported in updates of about so many nodes
  size_t quiet_from = 1 << 16;          // trees of at least so many nodes have quiet ones
};

}  // namespace jtrace::calls
