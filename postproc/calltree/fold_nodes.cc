#include "postproc/calltree/fold_nodes.h"

#include <utility>

namespace jtrace::postproc {
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
