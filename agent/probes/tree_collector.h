#ifndef JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
#define JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/hot/layout.h"
#include "agent/probes/state_recycler.h"

namespace jtrace {

// A node that is new or whose counts changed. Counts are totals of the file.
struct NodeUpdate {
  uint32_t node;     // number in the trace, from 1 on; never used for another node
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

  // A new file goes on where the last one ended: from here on counts are those since the last
  // Collect, and a node is defined again when it changes or a sample names it.
  void BeginFile();
  // A new recording begins: what was counted before belongs to none.
  void BeginRecording();

  // The number in the trace of a node as Position::node gives it; 0 for roots and for calls that
  // found no memory. Anything that is no node of this arena gives 0.
  uint32_t TraceNode(uint64_t raw_node);

  // The same of the node's child for `routine`, as far as the probes have made it; else 0.
  uint32_t TraceChild(uint64_t raw_node, uint32_t routine);

  // Σ of the calls in all updates of the recording.
  uint64_t total_calls() const { return total_calls_; }
  // The same of the file.
  uint64_t file_calls() const { return total_calls_ - calls_before_file_; }
  uint32_t nodes_reported() const { return nodes_reported_; }
  // Calls that are in no tree because memory ran out; about right.
  uint64_t lost_calls() const;

 private:
  // Counts of a node when the file began.
  struct Base {
    uint64_t calls = 0;
    uint64_t jitted = 0;
  };

  template <typename Visit>
  void ForEachNode(hot::ThreadState& state, Visit visit);
  void CollectNode(hot::Node& node);
  // Reports the node and, if need be, the nodes above it.
  void Report(hot::Node& node);
  void ReportOne(hot::Node& node);
  Base BaseOf(const hot::Node& node) const;
  uint32_t NumberOf(hot::Node& node);
  // The same for a node that a sample names.
  uint32_t NameBySample(hot::Node& node);
  // Null for what is no node of this arena.
  hot::Node* NodeAt(uint64_t raw_node) const;

  hot::Arena* arena_;
  StateRecycler states_;
  std::vector<NodeUpdate> updates_;
  std::vector<Base> bases_;  // by number; nodes that came later have none
  std::vector<hot::Node*> path_;
  uint32_t last_number_ = 0;
  uint64_t calls_before_file_ = 0;
  uint32_t nodes_reported_ = 0;
  uint64_t total_calls_ = 0;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
