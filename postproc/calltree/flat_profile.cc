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

// The standard order of rows.
bool HotterThan(const FlatRow& a, const FlatRow& b) {
  return std::tie(b.cum, b.cum_ticks, b.calls, a.name, a.is_root) <
         std::tie(a.cum, a.cum_ticks, a.calls, b.name, b.is_root);
}

}  // namespace

void FlatRow::Add(NodeId id, const CallNode& node, const NodeTotals& totals, const Measure& by) {
  const bool is_outermost = totals.recursion_level == 1;
  AddMeasure(measure, by, id, is_outermost);
  calls = WrapAdd(calls, node.calls);
  calls_jitted = WrapAdd(calls_jitted, node.calls_jitted);
  base = WrapAdd(base, node.base);
  base_ticks = WrapAdd(base_ticks, node.base_ticks);
  samples = WrapAdd(samples, node.samples);
  outside_calls = WrapAdd(outside_calls, node.outside_calls);
  outside_time = WrapAdd(outside_time, node.outside_time);
  cum2 = WrapAdd(cum2, totals.cum);
  cum2_ticks = WrapAdd(cum2_ticks, totals.cum_ticks);
  if (is_outermost) {
    cum = WrapAdd(cum, totals.cum);
    cum_ticks = WrapAdd(cum_ticks, totals.cum_ticks);
    elapsed = WrapAdd(elapsed, totals.elapsed());
  }
  if (node.origin == NodeOrigin::kEvent) instrumented = true;
  MergeExtremes(node, *this);
}

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
    rows_[row].Add(NodeId(i + 1), node, totals[i], measure);
    if (below_pruned[i]) rows_[row].has_bounds = true;
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
