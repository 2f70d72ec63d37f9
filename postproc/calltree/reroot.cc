#include "postproc/calltree/reroot.h"

namespace jtrace::postproc {
namespace {

void AddCounts(CallNode& to, const CallNode& from) {
  if (from.origin == NodeOrigin::kEvent) to.origin = NodeOrigin::kEvent;
  to.calls = WrapAdd(to.calls, from.calls);
  to.calls_jitted = WrapAdd(to.calls_jitted, from.calls_jitted);
  to.base = WrapAdd(to.base, from.base);
  to.off = WrapAdd(to.off, from.off);
  to.base_ticks = WrapAdd(to.base_ticks, from.base_ticks);
  to.samples = WrapAdd(to.samples, from.samples);
}

}  // namespace

RerootedTree Reroot(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                    const TraceModel& model, std::string_view pattern) {
  RerootedTree result;
  std::vector<NodeId> moved(tree.size() + 1);    // by old node: its new one
  std::vector<NodeId> root_of(tree.size() + 1);  // by old node: its old root
  std::vector<NodeId> new_root(tree.size() + 1);
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    root_of[i] = node.parent ? root_of[node.parent.value] : NodeId(i);
    if (!node.routine) continue;
    NodeId parent = moved[node.parent.value];
    if (!parent) {
      if (!RoutineMatches(pattern, model.RoutineName(node.routine))) continue;
      NodeId& root = new_root[root_of[i].value];
      if (!root) root = result.tree.AddRoot(tree.node(root_of[i]).thread);
      parent = root;
    }
    moved[i] = result.tree.Child(parent, node.routine, node.space);
    AddCounts(result.tree.node(moved[i]), node);
    if (node.has_extremes) result.tree.AddExtremes(moved[i], node.min_base, node.max_base);
  }
  tree.ForEachMetric([&](MetricId metric, NodeId node, int64_t value) {
    if (moved[node.value]) result.tree.AddMetric(moved[node.value], metric, value);
  });
  for (ThreadSummary thread : threads) {
    thread.root = new_root[thread.root.value];
    if (thread.root) result.threads.push_back(thread);
  }
  return result;
}

}  // namespace jtrace::postproc
