// Reads the threads' call trees while they grow.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/grouped_threads.h"
#include "agent/calls/trees/memory_recyclers.h"
#include "agent/calls/trees/node_dropper.h"
#include "agent/calls/trees/node_read_backoff.h"
#include "agent/calls/trees/node_reporter.h"
#include "agent/calls/trees/path_blocks.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/calls/trees/tree_pruner.h"
#include "agent/calls/trees/tree_update.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/calls/trees/unplaced_calls.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Notified by TreeCollector of trees and nodes that are about to be removed. On the writer thread.
class TreeWatcher {
 public:
  virtual ~TreeWatcher() = default;
  // The thread has ended, all is counted, and its memory will be reused.
  virtual void OnThreadEnded(const signal_safe::ThreadState& state) = 0;
  // The thread continues, but the node was cut off its tree and counts nothing any more.
  virtual void OnNodeRemoved(const signal_safe::ThreadState& state,
                             const signal_safe::Node& node) = 0;
};

// What the probes charge to nodes, and what limits the trees.
struct TreeSettings {
  // Null: every thread gets its own tree.
  GroupedThreads::GroupOf group_of = nullptr;
  // The clock that the probes read, and its scale. Null: none.
  signal_safe::ProbeClock clock = signal_safe::ProbeClock::kNone;
  const ClockScale* scale = nullptr;
  TreeLimits limits = {};
  // The metrics that the probes charge besides.
  PathMetrics metrics = {};
  // The counters of blocks at nodes (blocks=paths). Null: there are none.
  const BasicBlockCounters* path_blocks = nullptr;
};

// Walks the trees and hands each node to the parts that count it: NodeReporter (a thread's own
// tree) or GroupedThreads (a group's), TreePruner (memory), NodeDropper (nodes that were cut off).
// On the writer thread only; never waits for a probe.
//
// A round is: drain the sample rings (NumberOf for each sample), then Poll, and now and then
// Collect, into the same chunk. A node that a sample names is thereby defined in that chunk at the
// latest, and nodes of ended threads outlive their samples by one round.
class TreeCollector {
 public:
  using GroupOf = GroupedThreads::GroupOf;

  explicit TreeCollector(signal_safe::Arena* arena, const TreeSettings& settings = {});
  TreeCollector(const TreeCollector&) = delete;
  TreeCollector& operator=(const TreeCollector&) = delete;

  // blocks=on: `blocks` gets the counts of threads that end.
  void UseBlocks(BasicBlockCounters* blocks) { states_.UseBlocks(blocks); }

  // The counters of blocks at nodes; off without blocks=paths.
  PathBlocks& path_blocks() { return blocks_; }

  // Sets an action that Collect calls for each ended thread with its own tree, before its last
  // update. That update reports the nodes that the action names by NumberOf.
  void OnThreadEnd(std::function<void(const signal_safe::ThreadState&)> action) {
    on_thread_end_ = std::move(action);
  }
  // See TreeValues.
  MetricValues OpenMetricsOf(const signal_safe::ThreadState& state) const {
    return values_.OpenMetricsOf(state);
  }
  void SetOpenMetricsReader(TreeValues::OpenMetrics read) {
    values_.SetOpenMetricsReader(std::move(read));
  }
  // Bytes from a node to its metrics.
  uint64_t metrics_offset() const { return values_.metrics_offset(); }
  const PathMetrics& metrics() const { return values_.metrics(); }
  const TreeValues& values() const { return values_; }
  // Notifies `watcher` from here on of trees and nodes that are about to be removed; null: nobody.
  void Watch(TreeWatcher* watcher) { watcher_ = watcher; }
  // Visits every thread whose tree exists, including ended ones that are not reported yet.
  void ForEachThread(absl::FunctionRef<void(signal_safe::ThreadState&)> visit);
  // Returns the thread, also if it has ended but is not reported yet (the one that ends the JVM);
  // null: there is none.
  const signal_safe::ThreadState* FindThread(uint64_t java_tid) const;
  const signal_safe::Arena* arena() const { return arena_; }

  // Replaces `group_of` for threads that are first seen from here on.
  void GroupBy(GroupOf group_of) { groups_.GroupBy(std::move(group_of)); }

  // Called ten times a second or more: adds up group members that ended and releases their memory.
  void Poll();

  // Calls `visit` for each tree that changed since the last time, and each thread with its own tree
  // that ended. While memory is short, new nodes are not reported at once, since most are dropped
  // before long: only a Collect with `reports_deferred` reports them, if the last such Collect has
  // seen them. A large tree is visited in several updates, parents first. Changes of nodes that
  // have been quiet for long are seen up to eight rounds later.
  using VisitUpdate = absl::FunctionRef<void(const TreeUpdate&)>;
  void Collect(VisitUpdate visit, bool reports_deferred = true);
  // Makes the next Collect, the last one of the file, report all nodes.
  void ReportAll() { reports_all_ = true; }
  // Makes the next Collect read quiet nodes, too.
  void ReadAll() { reads_all_ = true; }

  // A new file continues where the last one ended: from here on counts are those since the last
  // Collect, and a node is defined again when it changes or a sample names it.
  void BeginFile();
  // A new recording begins: earlier counts belong to none.
  void BeginRecording();

  // Returns the number in the trace of a node as Position::node gives it; 0 for roots, for calls
  // that found no memory, and for what is outside of this arena's chunks.
  uint32_t NumberOf(uint64_t raw_node);

  // Returns the same for the node's child for `routine`, called from the call site in `raw_node`; 0
  // if the probes have not made it.
  uint32_t NumberOfChild(uint64_t raw_node, uint32_t routine);

  // A number in the trace that no node of any tree has or will have.
  uint32_t NewNumber() { return reporter_.NewNumber(); }

  // Σ of the calls in all updates of the recording, and in those that Poll added up since.
  uint64_t total_calls() const { return totals().calls; }
  // The same of the file.
  uint64_t file_calls() const { return totals().calls - totals().calls_before_file; }
  uint32_t nodes_reported() const { return totals().nodes_reported; }
  // Memory taken for trees, bytes.
  uint64_t tree_bytes() const;
  // Nodes dropped, and calls below [pruned] nodes, since the recording began.
  uint64_t pruned_nodes() const { return totals().pruned_nodes; }
  uint64_t pruned_calls() const { return totals().pruned_calls; }
  // Whether memory is short. Collect should then run again soon, because it frees memory.
  bool IsShort() const { return pruner_.is_short(); }

  // The calls of threads for which there was no memory at all: see UnplacedCalls.
  std::vector<RoutineUpdate> CollectWithoutTree(uint32_t routine_limit);
  uint64_t calls_without_tree() const { return without_tree_.calls(); }

 private:
  const TreeTotals& totals() const { return reporter_.totals(); }
  // Removes ended threads from the live ones: members are added up, others go to ended_.
  void RemoveEnded();
  // Drops a thread's tree that is counted: its memory is released when the samples are read.
  void Retire(signal_safe::ThreadState& state);
  void CollectEnded(signal_safe::ThreadState& state, VisitUpdate visit);
  void CollectLive(signal_safe::ThreadState& state, VisitUpdate visit);
  // Reports the tree's changes. Those that are not visited yet are left in reporter_.
  void CollectTree(signal_safe::ThreadState& state, VisitUpdate visit);
  // Reports the node if it changed, and returns whether it did.
  bool CollectNode(signal_safe::Node& node);
  // Returns whether the node is not to be reported yet, and notes that it was seen.
  bool Defer(signal_safe::Node& node, uint64_t calls);
  NodeValues ReadRoot(signal_safe::ThreadState& state);
  // Adds what a member's tree counted since the last time to its group's.
  void AddToGroup(signal_safe::ThreadState& state);
  // Makes the tree's present counts its baseline: they belong to no recording.
  void SetBaselines(signal_safe::ThreadState& state);
  // Calls visit(node) for the thread's nodes; those that were cut off are dropped and taken out of
  // the list.
  template <typename Visit>
  void ForEachKept(signal_safe::ThreadState& state, Visit visit);
  // Returns the number of a node that a sample names. The next round reports the node.
  uint32_t NumberForSample(signal_safe::Node& node);
  // Returns null for what is outside of this arena's chunks.
  signal_safe::Node* NodeAt(uint64_t raw_node) const;

  signal_safe::Arena* const arena_;
  TreeValues values_;
  PathBlocks blocks_;
  NodeReporter reporter_;
  GroupedThreads groups_;
  TreePruner pruner_;
  NodeDropper dropper_;
  NodeReadBackoff read_backoff_;
  UnplacedCalls without_tree_;
  StateRecycler states_;
  NodeRecycler nodes_;
  const size_t max_updates_;
  std::function<void(const signal_safe::ThreadState&)> on_thread_end_;
  TreeWatcher* watcher_ = nullptr;
  std::vector<signal_safe::ThreadState*> ended_;  // with their own trees, to be reported
  bool reports_deferred_ = true;                  // in this Collect
  bool reports_all_ = false;
  bool reads_all_ = false;
};

}  // namespace jtrace::calls
