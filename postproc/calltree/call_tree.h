// The calling-context tree of all threads: one node for each distinct path of routines (S3.12).
//
// Nodes are added under their parents, so that a node's number is greater than its parent's; sums
// over subtrees are one pass from the last node to the first. No I/O, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "common/call_place.h"
#include "postproc/model/ids.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {

// The origin of a node: a thread's root, entered by events, or only sampled.
enum class NodeOrigin : uint8_t { kThread, kEvent, kSample };

// The group of a node's children in which a routine is looked up: chains of --merge=none stay
// separate.
enum class ChildSpace : uint8_t { kMerged, kApart };

// The members that every enter and exit touches fill one cache line.
struct alignas(64) CallNode {
  RoutineId routine;  // none for a thread's root
  NodeId parent;
  NodeId recent_child;  // the one entered last, and the sibling that was entered after this one the
  NodeId follower;      // last time: guesses at the next call
  int64_t calls = 0;
  int64_t calls_jitted = 0;
  int64_t base = 0;  // time on a processor, without callees
  // Least and greatest base of one activation; has_extremes: whether any is known.
  int64_t min_base = 0;
  int64_t max_base = 0;
  uint32_t level = 0;
  NodeOrigin origin = NodeOrigin::kSample;
  ChildSpace space = ChildSpace::kMerged;
  bool has_extremes = false;
  bool waits_for_user = false;  // its own time counts as off (S4.2)

  int64_t off = 0;  // time off the processors, without callees
  int64_t base_ticks = 0;
  int64_t samples = 0;  // samples in which the node was a pending frame
  NodeId first_child;
  NodeId last_child;
  NodeId next_sibling;   // in the order of first appearance
  NodeId next_instance;  // the next node of the same routine
  ThreadId thread;       // roots only
  // The extremes are bounds: of the own time, and of that with all calls out of scope (--outside).
  bool has_rough_extremes : 1 = false;
  CallPlace place : 17 = kNoCallPlace;  // in the parent's routine; none: unknown, or no matter
  // Calls out of scope that this node makes itself, and their time (outside_calls.h).
  int64_t outside_calls = 0;
  int64_t outside_time = 0;
};
static_assert(sizeof(CallNode) == 128);

// The least and greatest self times of several nodes; `Sum` has these four members of CallNode.
template <typename Sum>
void MergeExtremes(const CallNode& node, Sum& sum) {
  if (!node.has_extremes) return;
  sum.min_base = sum.has_extremes ? std::min(sum.min_base, node.min_base) : node.min_base;
  sum.max_base = sum.has_extremes ? std::max(sum.max_base, node.max_base) : node.max_base;
  sum.has_extremes = true;
  sum.has_rough_extremes |= node.has_rough_extremes;
}

// Derived from the whole tree.
struct NodeTotals {
  int64_t cum = 0;
  int64_t off = 0;  // inclusive
  int64_t cum_ticks = 0;
  uint32_t recursion_level = 1;  // 1 + activations of the same routine above
  int64_t elapsed() const { return WrapAdd(cum, off); }
};

class CallTree {
 public:
  NodeId AddRoot(ThreadId thread);
  // The child of that routine that is called from `place`; if there is none yet, creates it with
  // origin sample.
  NodeId Child(NodeId parent, RoutineId routine, ChildSpace space = ChildSpace::kMerged,
               CallPlace place = kNoCallPlace);
  // The same in the merged space without a place, quick if calls repeat or alternate.
  NodeId EnterChild(NodeId parent, RoutineId routine) {
    CallNode& above = node(parent);
    const NodeId recent = above.recent_child;
    if (recent) {
      const CallNode& last = node(recent);
      if (last.routine == routine) return recent;
      const NodeId next = last.follower;
      if (next && node(next).routine == routine) return above.recent_child = next;
    }
    return FollowRecent(parent, recent, Child(parent, routine));
  }

  CallNode& node(NodeId id) { return nodes_[id.value - 1]; }
  const CallNode& node(NodeId id) const { return nodes_[id.value - 1]; }
  size_t size() const { return nodes_.size(); }
  // Whether any node has a place.
  bool has_places() const { return !placed_children_.empty(); }
  const std::vector<NodeId>& roots() const { return roots_; }
  // The first node of a routine; CallNode::next_instance leads to the others.
  NodeId first_instance(RoutineId routine) const;

  // One activation of the node ended after this much base time.
  void AddExtremes(NodeId id, int64_t min_base, int64_t max_base) {
    CallNode& it = node(id);
    it.min_base = it.has_extremes ? std::min(it.min_base, min_base) : min_base;
    it.max_base = it.has_extremes ? std::max(it.max_base, max_base) : max_base;
    it.has_extremes = true;
  }
  // All that another node counted, except its extremes and metrics.
  void AddCounts(NodeId id, const CallNode& from);
  void AddMetric(NodeId id, MetricId metric, int64_t delta);
  // Of the node's samples, those that count at an earlier node, too, which differs only by the
  // places of calls: if these are left out, each counts once.
  void AddRepeatedSamples(NodeId id, int64_t samples) {
    if (samples == 0) return;
    int64_t& sum = repeated_samples_[id];
    sum = WrapAdd(sum, samples);
  }
  int64_t repeated_samples(NodeId id) const {
    const auto found = repeated_samples_.find(id);
    return found == repeated_samples_.end() ? 0 : found->second;
  }
  // Where each sample ticked, in their order; none: elsewhere than in this tree. Empty if that is
  // not known of the tree.
  void NoteTick(NodeId id) { ticked_.push_back(id); }
  const std::vector<NodeId>& ticked() const { return ticked_; }
  // visit(MetricId, NodeId, value) for every value that is not 0, in no order.
  template <typename Visit>
  void ForEachMetric(Visit visit) const {
    for (const auto& [key, value] : metrics_) visit(key.first, key.second, value);
  }
  // The metric's base by node; index is NodeId.value - 1.
  std::vector<int64_t> MetricBase(MetricId metric) const;

  // Removes the times of all nodes of these threads.
  void ForgetTimes(absl::FunctionRef<bool(ThreadId thread)> is_untimed);

  // Sums over subtrees; index is NodeId.value - 1. Valid for the current tree.
  std::vector<NodeTotals> ComputeTotals() const;
  // Adds every node's value to its ancestors'.
  void AccumulateUpwards(std::vector<int64_t>& values) const;

 private:
  NodeId Append(const CallNode& node);
  NodeId FollowRecent(NodeId parent, NodeId recent, NodeId child);

  std::vector<CallNode> nodes_;
  std::vector<NodeId> roots_;
  absl::flat_hash_map<uint64_t, NodeId> children_;
  absl::flat_hash_map<std::pair<uint64_t, CallPlace>, NodeId> placed_children_;
  struct Instances {
    NodeId first;
    NodeId last;
  };
  std::vector<Instances> instances_;  // by routine
  absl::flat_hash_map<std::pair<MetricId, NodeId>, int64_t> metrics_;
  absl::flat_hash_map<NodeId, int64_t> repeated_samples_;
  std::vector<NodeId> ticked_;
};

}  // namespace jtrace::postproc
