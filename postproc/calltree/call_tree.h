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
#include "common/call_site.h"
#include "postproc/model/ids.h"
#include "postproc/support/columns.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {

// The origin of a node: a thread's root, entered by events, or only sampled.
enum class NodeOrigin : uint8_t { kThread, kEvent, kSample };

// The group of a node's children in which a routine is looked up: chains of --merge=none stay
// separate.
enum class ChildSpace : uint8_t { kMerged, kApart };

// A node, put together from the tree's columns: valid until the tree changes.
struct CallNode {
  RoutineId routine;  // none for a thread's root
  NodeId parent;
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
  NodeId next_sibling;  // in the order of first appearance
  ThreadId thread;      // roots only
  // The extremes are bounds: of the own time, and of that with all calls out of scope (--outside).
  bool has_rough_extremes = false;
  CallSite place = kNoCallSite;  // in the parent's routine; none: unknown, or no matter
  // Calls out of scope that this node makes itself, and their time (outside_calls.h).
  int64_t outside_calls = 0;
  int64_t outside_time = 0;
};

// The least and greatest self times of several nodes or sums, which have these four members of
// CallNode.
template <typename Part, typename Sum>
void MergeExtremes(const Part& part, Sum& sum) {
  if (!part.has_extremes) return;
  sum.min_base = sum.has_extremes ? std::min(sum.min_base, part.min_base) : part.min_base;
  sum.max_base = sum.has_extremes ? std::max(sum.max_base, part.max_base) : part.max_base;
  sum.has_extremes = true;
  sum.has_rough_extremes |= part.has_rough_extremes;
}

// Derived from the whole tree.
struct NodeTotals {
  int64_t cum = 0;
  int64_t off = 0;  // inclusive
  int64_t cum_ticks = 0;
  uint32_t recursion_level = 1;  // 1 + activations of the same routine above
  int64_t elapsed() const { return WrapAdd(cum, off); }
};

// The totals of all nodes; index is NodeId.value - 1.
class TreeTotals {
 public:
  NodeTotals operator[](size_t node) const {
    return {cum_[node], off_[node], cum_ticks_[node], recursion_levels_[node]};
  }
  uint32_t recursion_level(size_t node) const { return recursion_levels_[node]; }
  size_t size() const { return recursion_levels_.size(); }
  // From this node on they are 0, but for the recursion level.
  size_t end_of_sums() const { return std::max({cum_.size(), off_.size(), cum_ticks_.size()}); }

 private:
  friend class CallTree;
  PrefixColumn<int64_t> cum_, off_, cum_ticks_;
  std::vector<uint32_t> recursion_levels_;
};

// Columns by node, and only as far as any node has a value: most trees have no times, and few of
// their nodes were sampled. What is looked at together lies together.
class CallTree {
 public:
  NodeId AddRoot(ThreadId thread);
  // The child of that routine that is called from `place`; if there is none yet, creates it with
  // origin sample.
  NodeId Child(NodeId parent, RoutineId routine, ChildSpace space = ChildSpace::kMerged,
               CallSite place = kNoCallSite);
  // The same in the merged space without a place, quick if calls repeat or alternate.
  [[gnu::always_inline]] NodeId EnterChild(NodeId parent, RoutineId routine) {
    const NodeId recent = guesses_[parent.value - 1].recent_child;
    if (recent) {
      if (this->routine(recent) == routine) return recent;
      const NodeId next = guesses_[recent.value - 1].follower;
      if (next && this->routine(next) == routine) {
        return guesses_.At(parent.value - 1).recent_child = next;
      }
    }
    return FollowRecent(parent, recent, Child(parent, routine));
  }

  // Where it is inlined, only the columns that are used are read.
  [[gnu::always_inline]] CallNode node(NodeId id) const {
    const size_t i = id.value - 1;
    const Links& links = links_[i];
    const uint8_t flags = flags_[i];
    const Times times = times_[i];
    const Ticks ticks = ticks_[i];
    const Outside outside = outside_[i];
    CallNode node;
    node.routine = links.routine;
    node.parent = links.parent;
    node.calls = calls_[i];
    node.calls_jitted = jitted_[i];
    node.base = times.base;
    node.min_base = times.min_base;
    node.max_base = times.max_base;
    node.level = links.level;
    node.origin = static_cast<NodeOrigin>(flags & kOriginMask);
    node.space = (flags & kIsApart) != 0 ? ChildSpace::kApart : ChildSpace::kMerged;
    node.has_extremes = (flags & kHasExtremes) != 0;
    node.waits_for_user = (flags & kWaits) != 0;
    node.off = off_[i];
    node.base_ticks = ticks.base;
    node.samples = ticks.samples;
    node.first_child = links.first_child;
    if (links.parent) {
      node.next_sibling = links.next_sibling;
    } else {
      node.thread = ThreadId(links.next_sibling.value);
    }
    node.has_rough_extremes = (flags & kIsRough) != 0;
    node.place = places_[i];
    node.outside_calls = outside.calls;
    node.outside_time = outside.time;
    return node;
  }
  RoutineId routine(NodeId id) const { return links_[id.value - 1].routine; }
  NodeId parent(NodeId id) const { return links_[id.value - 1].parent; }
  CallSite place(NodeId id) const { return places_[id.value - 1]; }
  int64_t calls(NodeId id) const { return calls_[id.value - 1]; }
  int64_t calls_jitted(NodeId id) const { return jitted_[id.value - 1]; }
  NodeOrigin origin(NodeId id) const {
    return static_cast<NodeOrigin>(flags_[id.value - 1] & kOriginMask);
  }
  bool waits_for_user(NodeId id) const { return (flags_[id.value - 1] & kWaits) != 0; }
  bool has_extremes(NodeId id) const { return (flags_[id.value - 1] & kHasExtremes) != 0; }
  size_t size() const { return links_.size(); }
  // Nodes from this index on have no times, ticks, samples or calls out of scope.
  size_t end_of_values() const {
    return std::max({times_.size(), off_.size(), ticks_.size(), outside_.size()});
  }
  // Whether any node has a place.
  bool has_places() const { return places_.size() != 0; }
  const std::vector<NodeId>& roots() const { return roots_; }
  // The first node of a routine, and the next one of the same routine.
  NodeId first_instance(RoutineId routine) const;
  NodeId next_instance(NodeId id) const { return next_instances_[id.value - 1]; }

  void SetThread(NodeId root, ThreadId thread) {
    links_[root.value - 1].next_sibling = NodeId(thread.value);
  }
  // Events entered it.
  void BecomeEvent(NodeId id, bool waits_for_user) {
    uint8_t& flags = flags_[id.value - 1];
    flags = static_cast<uint8_t>((flags & ~(kOriginMask | kWaits)) |
                                 static_cast<uint8_t>(NodeOrigin::kEvent) |
                                 (waits_for_user ? kWaits : 0));
  }
  void SetOriginEvent(NodeId id) { BecomeEvent(id, waits_for_user(id)); }
  void SetCalls(NodeId id, int64_t calls) { calls_.Set(id.value - 1, calls); }
  // All add modulo 2^64.
  void AddCalls(NodeId id, int64_t calls, int64_t jitted) {
    calls_.Add(id.value - 1, calls);
    jitted_.Add(id.value - 1, jitted);
  }
  void AddBase(NodeId id, int64_t time) {
    if (time != 0) AddTo(times_.At(id.value - 1).base, time);
  }
  void AddOff(NodeId id, int64_t time) {
    if (time != 0) AddTo(off_.At(id.value - 1), time);
  }
  void AddTicks(NodeId id, int64_t ticks) {
    if (ticks != 0) AddTo(ticks_.At(id.value - 1).base, ticks);
  }
  void AddSamples(NodeId id, int64_t samples) {
    if (samples != 0) AddTo(ticks_.At(id.value - 1).samples, samples);
  }
  void AddOutside(NodeId id, int64_t calls, int64_t time) {
    if (calls == 0 && time == 0) return;
    Outside& outside = outside_.At(id.value - 1);
    AddTo(outside.calls, calls);
    AddTo(outside.time, time);
  }
  // One activation of the node ended after this much base time.
  [[gnu::always_inline]] void AddExtremes(NodeId id, int64_t min_base, int64_t max_base) {
    const size_t i = id.value - 1;
    if (!has_extremes(id)) return SetExtremes(id, min_base, max_base);
    if (i >= times_.size()) {
      return SetExtremes(id, std::min<int64_t>(0, min_base), std::max<int64_t>(0, max_base));
    }
    Times& times = times_.values()[i];
    times.min_base = std::min(times.min_base, min_base);
    times.max_base = std::max(times.max_base, max_base);
  }
  void SetExtremes(NodeId id, int64_t min_base, int64_t max_base) {
    const size_t i = id.value - 1;
    flags_[i] |= kHasExtremes;
    if (min_base == 0 && max_base == 0 && i >= times_.size()) return;
    Times& times = times_.At(i);
    times.min_base = min_base;
    times.max_base = max_base;
  }
  void MarkRough(NodeId id) { flags_[id.value - 1] |= kIsRough; }
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
  PrefixColumn<int64_t> MetricBase(MetricId metric) const;

  // Removes the times of all nodes of these threads.
  void ForgetTimes(absl::FunctionRef<bool(ThreadId thread)> is_untimed);

  // Sums over subtrees. Valid for the current tree.
  TreeTotals ComputeTotals() const;
  // Adds every node's value to its ancestors'. `values`: of the first nodes; others have 0.
  void AccumulateUpwards(std::vector<int64_t>& values) const;

 private:
  // A root has no sibling: `next_sibling` is its thread.
  struct Links {
    RoutineId routine;
    NodeId parent;
    NodeId first_child;
    NodeId last_child;
    NodeId next_sibling;
    uint32_t level = 0;
  };
  struct Times {
    int64_t base = 0, min_base = 0, max_base = 0;
  };
  struct Ticks {
    int64_t base = 0, samples = 0;
  };
  struct Outside {
    int64_t calls = 0, time = 0;
  };
  // The child entered last, and the sibling that was entered after this node the last time: guesses
  // at the next call.
  struct Guess {
    NodeId recent_child, follower;
  };
  enum Flag : uint8_t {
    kOriginMask = 3,
    kIsApart = 4,
    kHasExtremes = 8,
    kWaits = 16,
    kIsRough = 32,
    kIsIndexed = 64,  // its children are in children_
  };
  using ChildKey = std::pair<uint64_t, CallSite>;

  static void AddTo(int64_t& sum, int64_t value) { sum = WrapAdd(sum, value); }
  static ChildKey KeyOf(NodeId parent, RoutineId routine, ChildSpace space, CallSite place) {
    return {uint64_t{parent.value} << 32 | uint64_t{routine.value} << 1 |
                (space == ChildSpace::kApart ? 1 : 0),
            place};
  }
  NodeId FindChild(NodeId parent, RoutineId routine, ChildSpace space, CallSite place);
  void IndexChildren(NodeId parent);
  NodeId Append(const Links& links, uint8_t flags);
  NodeId FollowRecent(NodeId parent, NodeId recent, NodeId child);
  void FindInstances() const;
  std::vector<uint32_t> RecursionLevels() const;

  std::vector<Links> links_;
  std::vector<uint8_t> flags_;
  NarrowColumn calls_, jitted_;
  PrefixColumn<Times> times_;
  PrefixColumn<int64_t> off_;
  PrefixColumn<Ticks> ticks_;
  PrefixColumn<Outside> outside_;
  PrefixColumn<CallSite> places_;
  PrefixColumn<Guess> guesses_;
  std::vector<NodeId> roots_;
  absl::flat_hash_map<ChildKey, NodeId> children_;  // of nodes with many
  uint32_t most_routine_ = 0;
  // By routine and by node; of as many nodes as next_instances_ has.
  mutable std::vector<NodeId> first_instances_, last_instances_;
  mutable std::vector<NodeId> next_instances_;
  absl::flat_hash_map<std::pair<MetricId, NodeId>, int64_t> metrics_;
  absl::flat_hash_map<NodeId, int64_t> repeated_samples_;
  std::vector<NodeId> ticked_;
};

}  // namespace jtrace::postproc
