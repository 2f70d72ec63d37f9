#ifndef JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
#define JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/hot/layout.h"
#include "agent/probes/state_recycler.h"

namespace jtrace {

// A node that is new or whose counts changed. Counts are totals.
struct NodeUpdate {
  uint32_t node;     // number in the trace, from 1 on; never used again
  uint32_t parent;   // 0: the thread's root
  uint32_t routine;  // as pushed by the rewritten method
  bool is_new;
  uint64_t calls;
  uint64_t jitted;  // of `calls`
};

// What changed in one thread's tree; valid during the visit. Parents come before children.
struct TreeUpdate {
  uint64_t java_tid;
  bool ended;  // the thread's last update
  absl::Span<const NodeUpdate> nodes;
};

// Reads the threads' trees while they grow. On the writer thread only; never waits for a probe.
//
// A round is: drain the sample rings (TraceNode for each sample), then Collect, into one chunk. A
// node that a sample names is thereby defined in the same chunk at the latest, and nodes of ended
// threads outlive their samples by one round.
class TreeCollector {
 public:
  explicit TreeCollector(hot::Arena* arena) : arena_(arena), states_(arena) {}

  // Calls `visit` for each thread that changed or ended since the last time.
  void Collect(absl::FunctionRef<void(const TreeUpdate&)> visit);

  // The number in the trace of a node as Position::node gives it; 0 for roots and for calls that
  // found no memory. Anything that is no node of this arena gives 0.
  uint32_t TraceNode(uint64_t raw_node);

  // Σ of the calls in all updates so far.
  uint64_t total_calls() const { return total_calls_; }
  uint32_t nodes_reported() const { return nodes_reported_; }
  // Calls that are in no tree because memory ran out; about right.
  uint64_t lost_calls() const;

 private:
  void CollectTree(hot::ThreadState& state);
  void CollectNode(hot::Node& node);
  uint32_t NumberOf(hot::Node& node);

  hot::Arena* arena_;
  StateRecycler states_;
  std::vector<NodeUpdate> updates_;
  uint32_t last_number_ = 0;
  uint32_t nodes_reported_ = 0;
  uint64_t total_calls_ = 0;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
