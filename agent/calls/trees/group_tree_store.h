// The common call trees of groups of threads, where threads are too many to be distinguished.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "agent/calls/trees/tree_values.h"

namespace jtrace::calls {

// A tree for each group, to which its members' counts are added (GroupedThreads). On the writer
// thread only.
class GroupTreeStore {
 public:
  struct Node {
    uint32_t parent = 0;   // index; 0: a root
    uint32_t routine = 0;  // 0: a root
    uint32_t number = 0;   // in the trace; 0: a root
    uint32_t group = 0;    // which root it is under
    bool is_new = false;   // not in any update yet
    bool changed = false;  // since the last ForEachChanged
    uint64_t calls = 0;
    uint64_t jitted = 0;
    NodeValues values = {};
  };

  explicit GroupTreeStore(size_t max_nodes = SIZE_MAX / 2) : max_nodes_(max_nodes) {}

  // Adds a group. Returns the index of its root; never 0.
  uint32_t AddRoot();
  // Returns the index of the child for that routine; a new child gets the number after
  // `last_number`. If there are already `max_nodes`, returns a node below a [pruned] node, here or
  // further up, so that counts by routine stay exact.
  uint32_t Child(uint32_t parent, uint32_t routine, uint32_t& last_number);
  // Adds to a node's counts and totals, and widens the least and the greatest.
  void Add(uint32_t index, uint64_t calls, uint64_t jitted, const NodeValues& values);
  // Returns a node's number in the trace; the next ForEachChanged defines it at the latest.
  uint32_t NumberForSample(uint32_t index);
  // Counts start from 0 and every node is new again.
  void BeginFile();

  // Counts a new member of the group of that root.
  void AddMember(uint32_t root) { ++members_[nodes_[root].group]; }
  uint64_t members(uint32_t root) const { return members_[nodes_[root].group]; }

  const Node& node(uint32_t index) const { return nodes_[index]; }
  // Calls visit(root, nodes) for each group with changes since the last time; parents first.
  void ForEachChanged(absl::FunctionRef<void(uint32_t root, const std::vector<uint32_t>&)> visit);

  uint64_t memory_bytes() const;

 private:
  void MarkChanged(uint32_t index);
  // Returns the child's index; 0: there is none.
  uint32_t Find(uint32_t parent, uint32_t routine) const;
  uint32_t Make(uint32_t parent, uint32_t routine, uint32_t& last_number);
  // Returns the node that counts calls of `routine` from `parent` when there are too many nodes.
  uint32_t PrunedChild(uint32_t parent, uint32_t routine, uint32_t& last_number);

  const size_t max_nodes_;
  std::vector<Node> nodes_ = {Node{}};  // parents before children
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> children_;  // (parent, routine)
  std::vector<uint32_t> roots_;                                            // by group
  std::vector<uint64_t> members_;                                          // by group
  std::vector<std::vector<uint32_t>> changed_;                             // by group
};

}  // namespace jtrace::calls
