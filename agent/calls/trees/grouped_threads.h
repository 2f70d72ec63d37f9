// The common trees of groups of threads: which threads are in which group, and what their own
// trees add to the group's.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/trees/group_tree_store.h"
#include "agent/calls/trees/node_reporter.h"
#include "agent/calls/trees/path_blocks.h"
#include "agent/calls/trees/tree_update.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// A member has its own tree, as other threads do; Node::number is the index of the node in the
// group's tree. Each round adds what a node counted since the last one. On the writer thread only.
class GroupedThreads {
 public:
  // Called when a thread is first seen. Returns the number of the group in whose tree it is
  // counted; 0: the thread gets its own tree in the trace.
  using GroupOf = std::function<uint32_t(uint64_t java_tid, bool is_virtual)>;

  // `group_of`: null: every thread gets its own tree.
  GroupedThreads(const signal_safe::Arena* arena, const TreeValues& values, PathBlocks& blocks,
                 NodeReporter& reporter, GroupOf group_of, const TreeLimits& limits)
      : arena_(arena),
        values_(values),
        blocks_(blocks),
        reporter_(reporter),
        group_of_(std::move(group_of)),
        max_updates_(limits.max_updates),
        group_trees_(limits.groups_bytes / (2 * sizeof(GroupTreeStore::Node))) {}

  // Replaces `group_of` for threads that are first seen from here on.
  void GroupBy(GroupOf group_of) { group_of_ = std::move(group_of); }

  // Whether the thread is a member of a group. The first call for a thread decides.
  bool IsMember(signal_safe::ThreadState& state);
  // Whether it was decided that the thread has its own tree.
  static bool HasOwnTree(const signal_safe::ThreadState& state) { return state.group == kOwnTree; }
  // Returns the index of the root of the member's group in the forest.
  static uint32_t RootOf(const signal_safe::ThreadState& state) { return state.group - 1; }

  // Adds what a member's node counted since the last time. `root`: index of its group's root.
  void AddNode(signal_safe::Node& node, uint32_t root);
  // Adds the metrics of a member's root, which were counted outside of probed methods.
  void AddRoot(signal_safe::Node& root);
  // Adds the counts of blocks at a member's node.
  void AddBlocks(const signal_safe::Node& node);
  // If a node that no collection has seen is a member's, gives it its node in the group's tree.
  void AddUnseen(signal_safe::Node& node);
  // Returns a member's node's number in the trace, which the next report defines at the latest.
  uint32_t NumberForSample(const signal_safe::Node& node) {
    return group_trees_.NumberForSample(node.number);
  }

  // Reports each group's tree that changed since the last time, in updates of limited size.
  void Report(absl::FunctionRef<void(const TreeUpdate&)> visit);
  void BeginFile() { group_trees_.BeginFile(); }
  uint64_t memory_bytes() const { return group_trees_.memory_bytes(); }

 private:
  // Values of ThreadState::group; any other is the index of the group's root in the forest, plus 1.
  static constexpr uint32_t kUndecided = 0;
  static constexpr uint32_t kOwnTree = 1;

  void DecideGroup(signal_safe::ThreadState& state);
  // Gives a member's node, and those above it, their nodes in the group's tree. `instead`: the
  // index of the parent there if no node above is in a group.
  void AddPath(signal_safe::Node& node, uint32_t instead);
  void ReportGroup(uint32_t root, const std::vector<uint32_t>& changed,
                   absl::FunctionRef<void(const TreeUpdate&)> visit);

  const signal_safe::Arena* const arena_;
  const TreeValues& values_;
  PathBlocks& blocks_;
  NodeReporter& reporter_;
  GroupOf group_of_;
  const size_t max_updates_;
  GroupTreeStore group_trees_;
  absl::flat_hash_map<uint32_t, uint32_t> root_of_group_;  // in group_trees_
  absl::flat_hash_map<uint32_t, uint32_t> group_of_root_;
  std::vector<signal_safe::Node*> path_;  // buffer of AddPath
};

}  // namespace jtrace::calls
