#ifndef JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
#define JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/hot/layout.h"
#include "agent/probes/group_forest.h"
#include "agent/probes/state_recycler.h"
#include "agent/probes/tick_scale.h"

namespace jtrace {

// A node that is new or whose counts changed. Counts are totals of the file.
struct NodeUpdate {
  uint32_t node;     // number in the trace, from 1 on; never used for another node
  uint32_t parent;   // 0: the thread's root
  uint32_t routine;  // as pushed by the rewritten method
  bool is_new;
  uint64_t calls;
  uint64_t jitted;      // of `calls`
  NodeTicks time = {};  // all 0 without a clock
};

// What changed in one thread's tree, or in the common tree of a group of threads; valid during the
// visit. Parents come before children.
struct TreeUpdate {
  uint64_t java_tid = 0;  // 0: a group's
  uint32_t group = 0;     // as GroupOf named it; 0: a thread's own tree
  bool ended = false;     // the thread's last update
  uint64_t members = 0;   // threads counted in a group's tree so far
  absl::Span<const NodeUpdate> nodes = {};
};

// Reads the threads' trees while they grow. On the writer thread only; never waits for a probe.
//
// A round is: drain the sample rings (TraceNode for each sample), then Poll, and now and then
// Collect, into the same chunk. A node that a sample names is thereby defined in that chunk at the
// latest, and nodes of ended threads outlive their samples by one round.
class TreeCollector {
 public:
  // Decides at first sight of a thread: 0: it gets a tree of its own; else the number of the group
  // whose tree it is counted in.
  using GroupOf = std::function<uint32_t(uint64_t java_tid, bool is_virtual)>;

  // Without `group_of` every thread gets a tree of its own.
  // `scale`: of the clock that the probes read; null: none. `clock`: that clock.
  explicit TreeCollector(hot::Arena* arena, GroupOf group_of = nullptr,
                         const TickScale* scale = nullptr,
                         hot::ProbeClock clock = hot::ProbeClock::kNone)
      : arena_(arena),
        scale_(scale),
        clock_is_coarse_(clock == hot::ProbeClock::kCoarse),
        group_of_(std::move(group_of)),
        states_(arena) {}

  // Called by Collect for each thread with a tree of its own that has ended, before its last
  // update: what the action names by TraceNode is told in that one.
  void OnThreadEnd(std::function<void(const hot::ThreadState&)> action) {
    on_thread_end_ = std::move(action);
  }
  // Asked from here on about threads not met before.
  void GroupBy(GroupOf group_of) { group_of_ = std::move(group_of); }

  // Ten times a second or more: adds up grouped threads that ended and gives their memory back.
  void Poll();

  // Calls `visit` for each tree that changed since the last time, and each thread with a tree of
  // its own that ended.
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

  // Σ of the calls in all updates of the recording, and in what Poll added up since.
  uint64_t total_calls() const { return total_calls_; }
  // The same of the file.
  uint64_t file_calls() const { return total_calls_ - calls_before_file_; }
  uint32_t nodes_reported() const { return nodes_reported_; }
  // Calls that are in no tree because memory ran out; about right.
  uint64_t lost_calls() const;
  // Of the groups' trees.
  uint64_t memory_bytes() const { return forest_.memory_bytes(); }

 private:
  void TakeEnded();
  bool IsGrouped(hot::ThreadState& state);
  void DecideGroup(hot::ThreadState& state);
  template <typename Visit>
  void ForEachNode(hot::ThreadState& state, Visit visit);
  void CollectTree(hot::ThreadState& state);
  void CollectNode(hot::Node& node);
  // As they are now; all 0 without a clock.
  NodeTicks ReadTimes(const hot::Node& node) const;
  bool TimePassed(const hot::Node& node) const;
  // Less what earlier files, or the group's tree, know.
  NodeTicks TimesSinceBaseline(const hot::Node& node) const;
  void MoveBaseline(hot::Node& node) const;
  // The node that the thread has stood in since its last probe, and for how long.
  void FindOpen(const hot::ThreadState& state);
  // Reports the node and, if need be, the nodes above it.
  void Report(hot::Node& node);
  void ReportOne(hot::Node& node);
  void CollectGroups(absl::FunctionRef<void(const TreeUpdate&)> visit);
  void FoldTree(hot::ThreadState& state);
  void FoldNode(hot::Node& node);
  // Gives a node its number that no collection has met yet.
  void Place(hot::Node& node);
  // Gives a node of a group's member its place in the group's tree; its parent must have one.
  void PlaceInGroup(hot::Node& node);
  uint32_t NumberOf(hot::Node& node);
  // The same for a node that a sample names.
  uint32_t NameBySample(hot::Node& node);
  // Null for what is no node of this arena.
  hot::Node* NodeAt(uint64_t raw_node) const;

  hot::Arena* arena_;
  const TickScale* scale_;
  const bool clock_is_coarse_;
  GroupOf group_of_;
  std::function<void(const hot::ThreadState&)> on_thread_end_;
  StateRecycler states_;
  GroupForest forest_;
  absl::flat_hash_map<uint32_t, uint32_t> root_of_group_;  // in forest_
  absl::flat_hash_map<uint32_t, uint32_t> group_of_root_;
  std::vector<hot::ThreadState*> ended_;  // with trees of their own, to be told
  const hot::Node* open_node_ = nullptr;
  uint64_t open_ticks_ = 0;
  absl::flat_hash_set<const hot::Node*> open_path_;
  std::vector<NodeUpdate> updates_;
  std::vector<hot::Node*> path_;
  uint32_t last_number_ = 0;
  uint64_t calls_before_file_ = 0;
  uint32_t nodes_reported_ = 0;
  uint64_t total_calls_ = 0;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_TREE_COLLECTOR_H_
