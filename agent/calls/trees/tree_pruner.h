// Keeps the threads' trees within memory=: chooses what is dropped of them (S3.14).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/calls/trees/node_state.h"
#include "agent/calls/trees/path_blocks.h"
#include "agent/calls/trees/tree_update.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Sums up the memory of all trees in each round. While memory is short, it chooses subtrees that
// have less than a share of their parent's calls, no calls since the last round, and no node from
// which calls are folded (kNodeFolds). It requests their threads to cut them off; kNodeCutOff shows
// in a later round that they did. On the writer thread only.
class TreePruner {
 public:
  TreePruner(const signal_safe::Arena* arena, const TreeValues& values, const PathBlocks& blocks,
             const TreeLimits& limits)
      : arena_(arena),
        values_(values),
        blocks_(blocks),
        limits_(limits),
        percent_(limits.prune_percent) {}

  // Whether memory is short, or was in one of the last rounds.
  bool is_short() const { return short_rounds_ > 0; }

  // A round: for each tree BeginTree, then Add for its nodes in order of creation, and EndTree
  // unless its thread has ended; at last EndRound.
  void BeginTree(signal_safe::ThreadState& state);
  void Add(const signal_safe::Node& node);
  // Adds the memory of nodes that are not read in this round.
  void AddBytes(uint64_t bytes) { kept_bytes_ += bytes; }
  uint64_t kept_bytes() const { return kept_bytes_; }
  // Requests the thread to cut off what was chosen, and allows it to cut off more by itself.
  void EndTree(signal_safe::ThreadState& state);
  void EndRound();

  // Whether the thread may have cut off nodes since its tree was last read.
  bool MayHaveCut(const signal_safe::ThreadState& state);
  // Must be called when the thread has ended.
  void Forget(const signal_safe::ThreadState& state) { requested_.erase(&state); }

 private:
  struct Entry {
    signal_safe::Ref ref;
    uint32_t parent;  // index
    uint64_t cum;     // calls of the subtree
    bool kept;        // it must not be pruned
    bool cut;         // it is dropped, with or below a victim
  };
  // The nodes of one tree, of which Choose selects some.
  struct Choice {
    uint32_t folding_nodes = 0;  // Victims::folding_nodes
    signal_safe::Ref root = 0;
    signal_safe::Ref pruned = 0;  // the root's [pruned] node: the thread uses it without a search
    std::vector<Entry> entries;
    // Indexes in `entries` by Ref. A stale one leads to an entry with another Ref.
    std::vector<uint32_t> indexes;
  };

  void BeginChoice(const signal_safe::ThreadState& state);
  void AddToChoice(signal_safe::Ref ref, const signal_safe::Node& node);
  // The node's index in Choice::entries; 0: it was not added.
  uint32_t IndexOf(signal_safe::Ref ref) const;
  // Returns a signal_safe::Victims; empty if nothing is to be dropped.
  std::vector<uint32_t> Choose();
  // Sets how many nodes the thread may cut off by itself from now on (pruneexit=).
  void AllowCuts(signal_safe::ThreadState& state, uint32_t count) const;

  const signal_safe::Arena* const arena_;
  const TreeValues& values_;
  const PathBlocks& blocks_;
  const TreeLimits limits_;
  int short_rounds_ = 0;     // rounds to come in which memory still counts as short
  double percent_;           // prune_percent, or more while that is not enough
  uint64_t kept_bytes_ = 0;  // of nodes and their slots in this round
  bool chooses_ = false;     // in the present tree
  Choice choice_;
  // The nodes that threads were requested to cut off; kept until ThreadState::victims is 0 again.
  absl::flat_hash_map<const signal_safe::ThreadState*, std::vector<uint32_t>> requested_;
};

inline void TreePruner::Add(const signal_safe::Node& node) {
  // Slots of a granule or more have at least the memory of a node.
  const uint64_t slots = SlotBytes(*arena_, node);
  kept_bytes_ += values_.node_bytes() +
                 (SharesGranule(slots) ? slots : std::max(slots, values_.node_bytes())) +
                 blocks_.BytesOf(node);
  if (chooses_) AddToChoice(signal_safe::RefOf(arena_, &node), node);
}

}  // namespace jtrace::calls
