// Which nodes of a long tree need not be read in a round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/calls/trees/tree_pruner.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"

namespace jtrace::calls {

// Programs with millions of call paths take most of them for a moment and never again. A thread's
// nodes are in a list in order of creation; it is divided into runs of nodes that were made
// after one another. A run in which nothing changed is read again after two rounds, then after
// four, then always after eight. On the writer thread only.
class NodeReadBackoff {
 public:
  static constexpr uint32_t kRunNodes = 64;

  // Trees of `min_nodes` and more have quiet nodes.
  NodeReadBackoff(const signal_safe::Arena* arena, size_t min_nodes)
      : arena_(arena), min_nodes_(min_nodes) {}

  // Calls visit(node) for the nodes of the thread that may have changed; it returns whether the
  // node has. `reads_all`: for all nodes. No node may have been cut off since the last call. The
  // memory of nodes that are left out is added to the pruner's sum.
  template <typename Visit>
  void ForEachDue(const signal_safe::ThreadState& state, bool reads_all, TreePruner& pruner,
                  Visit visit);
  // Must be called when the thread has ended, or nodes were taken out of its list.
  void Forget(const signal_safe::ThreadState& state) { runs_.erase(&state); }

 private:
  struct NodeRun {
    signal_safe::Ref last;     // its last node
    uint32_t bytes;            // memory of its nodes, as the pruner counted it
    uint8_t quiet_rounds = 0;  // readings in a row without a change, up to kMaxQuiet
    uint8_t rounds_left = 0;   // rounds to come that leave it out

    void SetRead(bool changed) {
      constexpr uint8_t kMaxQuiet = 3;
      quiet_rounds = changed ? 0 : std::min<uint8_t>(quiet_rounds + 1, kMaxQuiet);
      rounds_left = static_cast<uint8_t>((1 << quiet_rounds) - 1);
    }
  };

  const signal_safe::Arena* const arena_;
  const size_t min_nodes_;
  // The complete runs of each thread's list. Nodes after them are read in every round.
  absl::flat_hash_map<const signal_safe::ThreadState*, std::vector<NodeRun>> runs_;
};

template <typename Visit>
void NodeReadBackoff::ForEachDue(const signal_safe::ThreadState& state, bool reads_all,
                                 TreePruner& pruner, Visit visit) {
  using signal_safe::At;
  using signal_safe::Node;
  std::vector<NodeRun>& runs = runs_[&state];
  const bool is_long = runs.size() * kRunNodes >= min_nodes_;
  Node* at = At<Node>(arena_, state.root);
  for (NodeRun& run : runs) {
    Node* const last = At<Node>(arena_, run.last);
    if (is_long && !reads_all && run.rounds_left != 0) {
      --run.rounds_left;
      pruner.AddBytes(run.bytes);
      at = last;
      continue;
    }
    const uint64_t bytes_before = pruner.kept_bytes();
    bool changed = false;
    while (at != last) {
      at = At<Node>(arena_, signal_safe::ReadAcquire(at->next));
      changed |= visit(*at);
    }
    run.bytes = static_cast<uint32_t>(pruner.kept_bytes() - bytes_before);
    run.SetRead(changed);
  }
  uint32_t count = 0;
  for (signal_safe::Ref next; (next = signal_safe::ReadAcquire(at->next)) != 0;) {
    at = At<Node>(arena_, next);
    visit(*at);
    if (++count % kRunNodes == 0) runs.push_back({.last = next, .bytes = 0});
  }
}

}  // namespace jtrace::calls
