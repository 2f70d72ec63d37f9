// Reads the threads' trees while they grow.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/calls/block_counters.h"
#include "agent/calls/group_forest.h"
#include "agent/calls/memory_recyclers.h"
#include "agent/calls/node_state.h"
#include "agent/calls/path_metrics.h"
#include "agent/calls/ticks.h"
#include "agent/calls/tree_pruner.h"
#include "agent/calls/tree_values.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// Notified by TreeCollector of trees and nodes that are about to be removed. On the writer thread.
class TreeWatcher {
 public:
  virtual ~TreeWatcher() = default;
  // The thread has ended, all is counted, and its memory will be reused.
  virtual void OnThreadGone(const signal_safe::ThreadState& state) = 0;
  // The thread continues, but the node was cut off its tree and counts nothing any more.
  virtual void OnNodeGone(const signal_safe::ThreadState& state, const signal_safe::Node& node) = 0;
};

// A node that is new or whose counts changed. Counts are totals of the file.
struct NodeUpdate {
  uint32_t node;     // number in the trace, from 1 on; never used for another node
  uint32_t parent;   // 0: the thread's root
  uint32_t routine;  // as pushed by the rewritten method; 0: a [pruned] node
  bool is_new;
  uint64_t calls;
  uint64_t jitted;  // of `calls`
  NodeValues values = {};
  bool pruned = false;  // dropped: its counts are below a [pruned] node
  uint32_t caller = 0;  // sites=on: the parent's routine, and the number of the place in it
  uint32_t place = 0;   // that the calls are from; 0: unknown
};

// The changes in one thread's tree, or in the common tree of a group of threads; valid during the
// visit. Parents are before children.
struct TreeUpdate {
  uint64_t java_tid = 0;  // 0: a group's
  uint32_t group = 0;     // as GroupOf named it; 0: a thread's own tree
  bool ended = false;     // the thread's last update
  uint64_t members = 0;   // threads counted in a group's tree so far
  NodeValues root = {};   // of the root, which has no number: outside of probed methods
  absl::Span<const NodeUpdate> nodes = {};
};

// The memory that trees may use, and the size of updates.
struct TreeLimits {
  uint64_t arena_bytes = 64ull << 30;   // limit of the threads' trees
  uint64_t groups_bytes = 16ull << 30;  // limit of the groups' trees
  double prune_percent = 0;             // 0: nothing is pruned by the collector
  double exit_percent = 0;              // 0: nothing is pruned when an activation ends
  size_t most_updates = 1 << 16;        // about so many nodes of a tree are reported at once
  size_t quiet_from = 1 << 16;          // trees of so many nodes have quiet ones (QuietNodes)
};

// On the writer thread only; never waits for a probe.
//
// A round is: drain the sample rings (TraceNode for each sample), then Poll, and now and then
// Collect, into the same chunk. A node that a sample names is thereby defined in that chunk at the
// latest, and nodes of ended threads outlive their samples by one round.
class TreeCollector {
 public:
  // Decides when a thread is first seen: 0: it gets its own tree; else the number of the group
  // whose tree it is counted in.
  using GroupOf = std::function<uint32_t(uint64_t java_tid, bool is_virtual)>;

  // Without `group_of` every thread gets its own tree. `scale`: of the clock that the probes read;
  // null: none. `clock`: that clock. `metrics`: those that the probes charge besides.
  // `path_blocks`: the counters of blocks at nodes (blocks=paths); null: there are none.
  explicit TreeCollector(signal_safe::Arena* arena, GroupOf group_of = nullptr,
                         const TickScale* scale = nullptr,
                         signal_safe::ProbeClock clock = signal_safe::ProbeClock::kNone,
                         const TreeLimits& limits = TreeLimits(),
                         const PathMetrics& metrics = PathMetrics(),
                         const BlockCounters* path_blocks = nullptr);

  void UseBlocks(BlockCounters* blocks) { states_.UseBlocks(blocks); }

  // blocks=paths: see PathBlocks. Null: blocks are not counted by call path.
  PathBlocks* path_blocks() { return blocks_.get(); }

  // Called by Collect for each thread with its own tree that has ended, before its last update:
  // that update reports the nodes that the action names by TraceNode.
  void OnThreadEnd(std::function<void(const signal_safe::ThreadState&)> action) {
    on_thread_end_ = std::move(action);
  }
  // See TreeValues.
  MetricValues OpenMetricsOf(const signal_safe::ThreadState& state) const {
    return values_.OpenMetricsOf(state);
  }
  void ReadOpenMetricsBy(TreeValues::OpenMetrics read) {
    values_.ReadOpenMetricsBy(std::move(read));
  }
  // Metrics in a node are after so many bytes.
  uint64_t metrics_offset() const { return values_.metrics_offset(); }
  const PathMetrics& metrics() const { return values_.metrics(); }
  const TreeValues& values() const { return values_; }
  // Notified from here on of trees and nodes that are about to be removed; null: none.
  void Watch(TreeWatcher* watcher) { watcher_ = watcher; }
  // Every thread whose tree is there, including those that have ended.
  void ForEachThread(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);
  // The thread, also if it has ended but is not reported yet (the one that ends the JVM); null:
  // there is none.
  const signal_safe::ThreadState* FindThread(uint64_t java_tid) const;
  const signal_safe::Arena* arena() const { return arena_; }

  // Called from here on for new threads.
  void GroupBy(GroupOf group_of) { group_of_ = std::move(group_of); }

  // Ten times a second or more: adds up grouped threads that ended and releases their memory.
  void Poll();

  // Calls `visit` for each tree that changed since the last time, and each thread with its own tree
  // that ended. While memory is short, nodes are not reported when first seen, since most are
  // dropped before long: only if `reports_aged`, and only those that were there when it was last
  // set. A large tree is visited in several updates, the nodes above those in them first. Changes
  // of nodes that have been quiet for long are seen up to eight rounds later.
  using VisitUpdate = absl::FunctionRef<void(const TreeUpdate&)>;
  void Collect(VisitUpdate visit, bool reports_aged = true);
  // The next Collect is the last one: it reports everything.
  void ReportAll() { reports_all_ = true; }
  // The next Collect sees all changes.
  void LookAtAll() { looks_at_all_ = true; }

  // A new file continues where the last one ended: from here on counts are those since the last
  // Collect, and a node is defined again when it changes or a sample names it.
  void BeginFile();
  // A new recording begins: earlier counts belong to none.
  void BeginRecording();

  // The number in the trace of a node as Position::node gives it; 0 for roots and for calls that
  // found no memory. Anything that is not a node of this arena gives 0.
  uint32_t TraceNode(uint64_t raw_node);

  // The same of the node's child for `routine`, called from where the node is, if the probes
  // have made it; else 0.
  uint32_t TraceChild(uint64_t raw_node, uint32_t routine);

  // A number in the trace that no node of any tree has or will have.
  uint32_t NewNumber() { return ++last_number_; }

  // Σ of the calls in all updates of the recording, and in those that Poll added up since.
  uint64_t total_calls() const { return total_calls_; }
  // The same of the file.
  uint64_t file_calls() const { return total_calls_ - calls_before_file_; }
  uint32_t nodes_reported() const { return nodes_reported_; }
  // Memory taken for trees, bytes.
  uint64_t tree_bytes() const;
  // Nodes dropped, and calls below [pruned] nodes, since the recording began.
  uint64_t pruned_nodes() const { return pruned_nodes_; }
  uint64_t pruned_calls() const { return pruned_calls_; }
  // Memory is short: Collect should run again soon, because it frees memory.
  bool IsShort() const { return is_short_; }

  // Calls of threads for which there was no memory at all: as UnplacedCounts.
  std::vector<RoutineUpdate> CollectUnplaced(uint32_t routine_limit);
  uint64_t unplaced_calls() const { return unplaced_.calls(); }

 private:
  void TakeEnded();
  void Retire(signal_safe::ThreadState& state);
  bool IsGrouped(signal_safe::ThreadState& state);
  void DecideGroup(signal_safe::ThreadState& state);
  template <typename Visit>
  void ForEachNode(signal_safe::ThreadState& state, Visit visit);
  // The same, but nodes that were cut off are dropped and taken out of the list.
  template <typename Visit>
  void ForEachKept(signal_safe::ThreadState& state, Visit visit);
  // The same for the nodes that may have changed; none of them was cut off. `visit` returns whether
  // it has.
  template <typename Visit>
  void ForEachDue(signal_safe::ThreadState& state, Visit visit);
  // Whether the tree has nodes that were cut off, or everything in it is to be seen.
  bool NeedsWholeLook(signal_safe::ThreadState& state);
  bool IsGone(const signal_safe::Node& node) const;
  void DropNode(signal_safe::Node& node);
  void DropNumber(signal_safe::Node& node, signal_safe::Node& kept);
  signal_safe::Node& KeptAbove(const signal_safe::Node& node) const;
  void ReportPruned();
  void BeginChoosing(const signal_safe::ThreadState& state);
  void Consider(const signal_safe::Node& node);
  void AskToPrune(signal_safe::ThreadState& state);
  // How many nodes the thread may cut off by itself from now on.
  void AllowCuts(signal_safe::ThreadState& state, uint32_t count);
  void CheckMemory();
  // The node's counts in this file.
  PrunedNodes::Sum TakeCounts(const signal_safe::Node& node);
  signal_safe::Node& RootAbove(const signal_safe::Node& node) const;
  // Its caller is a [pruned] node: only the number of its calls is known.
  bool IsBelowPruned(const signal_safe::Node& node) const;
  void CollectTree(signal_safe::ThreadState& state, VisitUpdate visit);
  // Whether it had changed.
  bool CollectNode(signal_safe::Node& node);
  // Whether the node is not to be reported yet.
  bool Defer(signal_safe::Node& node, uint64_t calls);
  // Reports the node and, if needed, the nodes above it.
  void Report(signal_safe::Node& node);
  void ReportOne(signal_safe::Node& node);
  void CollectGroups(VisitUpdate visit);
  void FoldTree(signal_safe::ThreadState& state);
  // `root`: of the group, in the forest.
  void FoldNode(signal_safe::Node& node, uint32_t root);
  void FoldRoot(signal_safe::Node& root);
  void FoldBlocks(const signal_safe::Node& node);
  NodeValues ReadRoot(signal_safe::ThreadState& state);
  // Gives a node that no collection has seen yet its number.
  void Place(signal_safe::Node& node);
  // Gives a node of a group's member, and those above it, their places in the group's tree. Below
  // `instead` if none of those above is in a group.
  void PlaceInGroup(signal_safe::Node& node, uint32_t instead);
  uint32_t NumberOf(signal_safe::Node& node);
  // The same for a node that a sample names.
  uint32_t NameBySample(signal_safe::Node& node);
  // Null if it is not a node of this arena.
  signal_safe::Node* NodeAt(uint64_t raw_node) const;

  signal_safe::Arena* arena_;
  TreeValues values_;
  GroupOf group_of_;
  std::function<void(const signal_safe::ThreadState&)> on_thread_end_;
  TreeWatcher* watcher_ = nullptr;
  std::unique_ptr<PathBlocks> blocks_;
  StateRecycler states_;
  NodeRecycler nodes_;
  const TreeLimits limits_;
  GroupForest forest_;
  TreePruner pruner_;
  bool chooses_ = false;  // the pruner, in the tree that is collected now
  bool is_short_ = false;
  int short_rounds_ = 0;      // for so many rounds to come
  bool reports_aged_ = true;  // in this Collect
  bool reports_all_ = false;
  bool looks_at_all_ = false;
  absl::flat_hash_map<const signal_safe::ThreadState*, QuietNodes> quiet_;
  double percent_ = 0;       // prune_percent or, while that is not enough, more
  uint64_t kept_bytes_ = 0;  // of nodes and their slots seen in this Collect
  PrunedNodes pruned_;
  // The nodes that the threads were requested to cut off; theirs until ThreadState::victims is 0
  // again.
  absl::flat_hash_map<const signal_safe::ThreadState*, std::vector<uint32_t>> victims_;
  uint64_t pruned_nodes_ = 0;
  uint64_t pruned_calls_ = 0;
  UnplacedCounts unplaced_;
  absl::flat_hash_map<uint32_t, uint32_t> root_of_group_;  // in forest_
  absl::flat_hash_map<uint32_t, uint32_t> group_of_root_;
  std::vector<signal_safe::ThreadState*> ended_;  // with their own trees, to be reported
  std::vector<NodeUpdate> updates_;
  std::vector<signal_safe::Node*> path_;
  uint32_t last_number_ = 0;
  uint64_t calls_before_file_ = 0;
  uint32_t nodes_reported_ = 0;
  uint64_t total_calls_ = 0;
};

}  // namespace jtrace::calls
