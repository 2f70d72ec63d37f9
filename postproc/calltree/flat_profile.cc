#include "postproc/calltree/flat_profile.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace jtrace::postproc {
namespace {

void AddMeasure(MeasureSums& sums, const Measure& measure, NodeId id, bool is_outermost) {
  sums.base = WrapAdd(sums.base, measure.Base(id));
  sums.cum2 = WrapAdd(sums.cum2, measure.Cum(id));
  if (is_outermost) sums.cum = WrapAdd(sums.cum, measure.Cum(id));
}

void AddNode(FlatRow& row, const CallNode& node, const NodeTotals& totals) {
  row.calls = WrapAdd(row.calls, node.calls);
  row.calls_jitted = WrapAdd(row.calls_jitted, node.calls_jitted);
  row.base = WrapAdd(row.base, node.base);
  row.base_ticks = WrapAdd(row.base_ticks, node.base_ticks);
  row.samples = WrapAdd(row.samples, node.samples);
  row.cum2 = WrapAdd(row.cum2, totals.cum);
  row.cum2_ticks = WrapAdd(row.cum2_ticks, totals.cum_ticks);
  if (totals.recursion_level == 1) {
    row.cum = WrapAdd(row.cum, totals.cum);
    row.cum_ticks = WrapAdd(row.cum_ticks, totals.cum_ticks);
    row.elapsed = WrapAdd(row.elapsed, totals.elapsed());
  }
  if (node.origin == NodeOrigin::kEvent) row.instrumented = true;
  if (!node.has_extremes) return;
  row.min_base = row.has_extremes ? std::min(row.min_base, node.min_base) : node.min_base;
  row.max_base = row.has_extremes ? std::max(row.max_base, node.max_base) : node.max_base;
  row.has_extremes = true;
}

// Whether the node is below a [pruned] one; parents come first.
std::vector<bool> FindBelowPruned(const TraceModel& model, const CallTree& tree) {
  std::vector<bool> below(tree.size());
  const RoutineId pruned = model.FindRoutine(kPrunedName);
  if (!pruned) return below;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId parent = tree.node(NodeId(i + 1)).parent;
    if (!parent) continue;
    below[i] = below[parent.value - 1] || tree.node(parent).routine == pruned;
  }
  return below;
}

// The standard order of rows.
bool HotterThan(const FlatRow& a, const FlatRow& b) {
  return std::tie(b.cum, b.cum_ticks, b.calls, a.name, a.is_root) <
         std::tie(a.cum, a.cum_ticks, a.calls, b.name, b.is_root);
}

}  // namespace

FlatProfile::FlatProfile(const TraceModel& model, const CallTree& tree,
                         const std::vector<NodeTotals>& totals, const Measure& measure)
    : by_measure_(measure.is_chosen) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> row_of_routine(model.routine_count() + 1, kNone);
  ViewMap<uint32_t> row_of_root;
  row_of_node_.resize(tree.size());
  const std::vector<bool> below_pruned = FindBelowPruned(model, tree);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i + 1));
    const std::string_view name =
        node.routine ? model.RoutineName(node.routine) : model.thread(node.thread).name;
    uint32_t& row = node.routine ? row_of_routine[node.routine.value]
                                 : row_of_root.try_emplace(name, kNone).first->second;
    if (row == kNone) {
      row = static_cast<uint32_t>(rows_.size());
      FlatRow& added = rows_.emplace_back();
      added.name = name;
      added.is_root = !node.routine;
      added.routine = node.routine;
    }
    row_of_node_[i] = row;
    AddNode(rows_[row], node, totals[i]);
    if (below_pruned[i]) rows_[row].has_bounds = true;
    AddMeasure(rows_[row].measure, measure, NodeId(i + 1), totals[i].recursion_level == 1);
  }
}

std::vector<uint32_t> FlatProfile::Sorted() const {
  std::vector<uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const FlatRow& row_a = rows_[a];
    const FlatRow& row_b = rows_[b];
    if (by_measure_ && row_a.measure.cum != row_b.measure.cum) {
      return row_a.measure.cum > row_b.measure.cum;
    }
    return HotterThan(row_a, row_b);
  });
  return order;
}

}  // namespace jtrace::postproc
