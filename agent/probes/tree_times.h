#ifndef JTRACE_AGENT_PROBES_TREE_TIMES_H_
#define JTRACE_AGENT_PROBES_TREE_TIMES_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "agent/hot/layout.h"
#include "agent/probes/group_forest.h"
#include "agent/probes/tick_scale.h"

namespace jtrace {

// The times in the nodes of one thread after the other, what is still open included. On the writer
// thread only. Without a clock all times are 0 and nothing is read or written.
class TreeTimes {
 public:
  // `scale`: of the clock that the probes read; null: none.
  TreeTimes(const hot::Arena* arena, const TickScale* scale, hot::ProbeClock clock)
      : arena_(arena), scale_(scale), clock_is_coarse_(clock == hot::ProbeClock::kCoarse) {}

  // Bytes from one node to a next one in the same block.
  uint64_t node_bytes() const {
    return sizeof(hot::Node) + (scale_ != nullptr ? sizeof(hot::NodeTimes) : 0);
  }

  // Finds where the thread has stood since its last probe, and for how long. Before its nodes are
  // read.
  void FindOpen(const hot::ThreadState& state);

  NodeTicks Read(const hot::Node& node) const;
  // Of a node that has no activation any more.
  NodeTicks ReadClosed(const hot::Node& node) const;
  // What earlier files, or the group's tree, do not know of what was read.
  NodeTicks SinceBaseline(const hot::Node& node, NodeTicks read) const;
  // Whether time passed since it was reported.
  bool Passed(const hot::Node& node) const;

  void SetReported(hot::Node& node, const NodeTicks& read) const;
  void SetBaseline(hot::Node& node, const NodeTicks& read) const;

 private:
  const hot::Arena* arena_;
  const TickScale* scale_;
  const bool clock_is_coarse_;
  const hot::Node* open_node_ = nullptr;
  uint64_t open_ticks_ = 0;
  absl::flat_hash_set<const hot::Node*> open_path_;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_TREE_TIMES_H_
