#include "postproc/calltree/reroot.h"

#include <utility>

namespace jtrace::postproc {
namespace {

// Copies nodes one by one, parents before their children.
class TreeCopy {
 public:
  TreeCopy(const CallTree& tree, bool with_places)
      : tree_(tree),
        with_places_(with_places),
        moved_(tree.size() + 1),
        new_root_(tree.size() + 1) {}

  // The new root for an old one.
  NodeId Root(NodeId old) {
    NodeId& root = new_root_[old.value];
    if (!root) root = result_.tree.AddRoot(tree_.node(old).thread);
    return root;
  }
  // The new node of an old one; none: it was not copied.
  NodeId& Moved(NodeId old) { return moved_[old.value]; }

  // Adds the node to the new child of `parent`. `place`: whether that of its calls is known.
  void Add(NodeId old, NodeId parent, bool has_place) {
    const CallNode& node = tree_.node(old);
    const CallSite place = has_place && with_places_ ? node.place : kNoCallSite;
    const NodeId to = result_.tree.Child(parent, node.routine, node.space, place);
    moved_[old.value] = to;
    result_.tree.AddCounts(to, node);
    if (node.has_extremes) result_.tree.AddExtremes(to, node.min_base, node.max_base);
    const int64_t repeated = tree_.repeated_samples(old);
    if (with_places_) return result_.tree.AddRepeatedSamples(to, repeated);
    result_.tree.AddSamples(to, WrapSub(0, repeated));
  }

  // What the old root has of its own.
  void AddToRoot(NodeId old, NodeId root) {
    const CallNode& node = tree_.node(old);
    result_.tree.SetCalls(root, 0);  // counted with the others
    result_.tree.AddCounts(root, node);
    if (node.has_extremes) result_.tree.AddExtremes(root, node.min_base, node.max_base);
  }

  RerootedTree Finish(const std::vector<ThreadSummary>& threads) {
    tree_.ForEachMetric([&](MetricId metric, NodeId node, int64_t value) {
      if (moved_[node.value]) result_.tree.AddMetric(moved_[node.value], metric, value);
    });
    for (const NodeId node : tree_.ticked()) result_.tree.NoteTick(moved_[node.value]);
    for (ThreadSummary thread : threads) {
      thread.root = new_root_[thread.root.value];
      if (thread.root) result_.threads.push_back(thread);
    }
    return std::move(result_);
  }

 private:
  const CallTree& tree_;
  const bool with_places_;
  RerootedTree result_;
  std::vector<NodeId> moved_;     // by old node: its new one
  std::vector<NodeId> new_root_;  // by old root
};

}  // namespace

RerootedTree MergePlaces(const CallTree& tree, const std::vector<ThreadSummary>& threads) {
  TreeCopy copy(tree, /*with_places=*/false);
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const NodeId id(i);
    const CallNode& node = tree.node(id);
    if (node.parent) {
      copy.Add(id, copy.Moved(node.parent), false);
      continue;
    }
    const NodeId root = copy.Root(id);
    copy.Moved(id) = root;
    copy.AddToRoot(id, root);
  }
  return copy.Finish(threads);
}

RerootedTree Reroot(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                    const TraceModel& model, std::string_view pattern, bool with_places) {
  TreeCopy copy(tree, with_places);
  std::vector<NodeId> root_of(tree.size() + 1);  // by old node: its old root
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const NodeId id(i);
    const CallNode& node = tree.node(id);
    root_of[i] = node.parent ? root_of[node.parent.value] : id;
    if (!node.routine) continue;
    const NodeId parent = copy.Moved(node.parent);
    if (parent) {
      copy.Add(id, parent, true);
    } else if (RoutineMatches(pattern, model.RoutineName(node.routine))) {
      // Nothing is known of the caller of the new root.
      copy.Add(id, copy.Root(root_of[i]), false);
    }
  }
  return copy.Finish(threads);
}

namespace {

class Folder {
 public:
  using Predicate = absl::FunctionRef<bool(const CallNode& node, bool is_caller_folded)>;

  Folder(const CallTree& tree, Predicate is_to_fold)
      : tree_(tree),
        is_to_fold_(is_to_fold),
        moved_(tree.size() + 1),
        is_folded_(tree.size() + 1),
        place_(tree.size() + 1) {}

  RerootedTree Fold(const std::vector<ThreadSummary>& threads) {
    for (uint32_t i = 1; i <= tree_.size(); ++i) Move(NodeId(i));
    tree_.ForEachMetric([&](MetricId metric, NodeId node, int64_t value) {
      result_.tree.AddMetric(moved_[node.value], metric, value);
    });
    for (const NodeId node : tree_.ticked()) result_.tree.NoteTick(moved_[node.value]);
    for (size_t i = 0; i < added_.size(); ++i)
      WidenExtremes(NodeId(static_cast<uint32_t>(i + 1)), added_[i]);
    for (ThreadSummary thread : threads) {
      thread.root = moved_[thread.root.value];
      result_.threads.push_back(thread);
    }
    return std::move(result_);
  }

 private:
  // Parents come first.
  void Move(NodeId id) {
    const CallNode& node = tree_.node(id);
    NodeId& to = moved_[id.value];
    if (!node.parent) {
      to = result_.tree.AddRoot(node.thread);
      result_.tree.SetCalls(to, 0);  // counted below
      result_.tree.AddCounts(to, node);
      if (node.has_extremes) result_.tree.AddExtremes(to, node.min_base, node.max_base);
      return;
    }
    const NodeId parent = moved_[node.parent.value];
    // What a folded call calls back is called from where that call was made.
    place_[id.value] = is_folded_[node.parent.value] ? place_[node.parent.value] : node.place;
    if (is_to_fold_(node, is_folded_[node.parent.value])) {
      to = parent;
      is_folded_[id.value] = true;
      AddToCaller(to, node);
      return;
    }
    to = result_.tree.Child(parent, node.routine, node.space, place_[id.value]);
    result_.tree.AddCounts(to, node);
    result_.tree.AddRepeatedSamples(to, tree_.repeated_samples(id));
    if (node.has_extremes) result_.tree.AddExtremes(to, node.min_base, node.max_base);
  }

  void AddToCaller(NodeId to, const CallNode& node) {
    result_.tree.AddBase(to, node.base);
    result_.tree.AddOff(to, node.off);
    result_.tree.AddTicks(to, node.base_ticks);
    if (added_.size() < to.value) added_.resize(to.value);
    added_[to.value - 1] = WrapAdd(added_[to.value - 1], node.base);
  }

  // How the added time is spread over the activations is not known.
  void WidenExtremes(NodeId id, int64_t added) {
    const CallNode node = result_.tree.node(id);
    if (added == 0 || !node.has_extremes) return;
    if (node.calls == 1) {
      return result_.tree.SetExtremes(id, node.base, node.base);
    }
    result_.tree.SetExtremes(id, node.min_base, WrapAdd(node.max_base, added));
    result_.tree.MarkRough(id);
  }

  const CallTree& tree_;
  const Predicate is_to_fold_;
  std::vector<NodeId> moved_;    // by old node
  std::vector<bool> is_folded_;  // by old node: into its caller
  std::vector<CallSite> place_;  // by old node: in the caller that is kept
  std::vector<int64_t> added_;   // by new node: base of what was folded into it
  RerootedTree result_;
};

}  // namespace

RerootedTree FoldNodes(
    const CallTree& tree, const std::vector<ThreadSummary>& threads,
    absl::FunctionRef<bool(const CallNode& node, bool is_caller_folded)> is_folded) {
  return Folder(tree, is_folded).Fold(threads);
}

}  // namespace jtrace::postproc
