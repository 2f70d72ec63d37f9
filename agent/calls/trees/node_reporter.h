// Numbers the nodes of call trees, and lists those that are new or changed.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/trees/tree_update.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Sums over all trees of a recording.
struct TreeTotals {
  uint64_t calls = 0;              // those reported, and those added to groups' trees
  uint64_t calls_before_file = 0;  // of these, in earlier files
  uint64_t pruned_calls = 0;       // below [pruned] nodes
  uint64_t pruned_nodes = 0;       // dropped
  uint32_t nodes_reported = 0;
};

// Lists the updates of one tree, or of a part of one, until Clear. On the writer thread only.
class NodeReporter {
 public:
  NodeReporter(const signal_safe::Arena* arena, const TreeValues& values)
      : arena_(arena), values_(values) {}

  // The node's number in the trace, which it gets when it is first requested.
  uint32_t NumberOf(signal_safe::Node& node);
  // A number that no node of any tree has or will have.
  uint32_t NewNumber() { return ++last_number_; }
  // The number that was given last, for code that numbers nodes of its own.
  uint32_t& last_number() { return last_number_; }

  // Lists a node of a thread's tree, and before it those above it that the file does not have.
  void Report(signal_safe::Node& node);
  // Lists a node that is in no thread's tree.
  void Report(const NodeUpdate& update);
  // Lists that the node with that number is dropped. One that is `is_new` is thereby defined.
  void ReportDropped(uint32_t number, uint32_t parent = 0, uint32_t routine = 0,
                     bool is_new = false);

  absl::Span<const NodeUpdate> updates() const { return updates_; }
  void Clear() { updates_.clear(); }

  TreeTotals& totals() { return totals_; }
  const TreeTotals& totals() const { return totals_; }

 private:
  void ReportOne(signal_safe::Node& node);

  const signal_safe::Arena* const arena_;
  const TreeValues& values_;
  TreeTotals totals_;
  uint32_t last_number_ = 0;  // of all recordings
  std::vector<NodeUpdate> updates_;
  std::vector<signal_safe::Node*> path_;  // buffer of Report
};

}  // namespace jtrace::calls
