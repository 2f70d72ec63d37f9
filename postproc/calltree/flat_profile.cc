#include "postproc/calltree/flat_profile.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

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
  const RoutineId pruned = model.FindRoutine(kPrunedName);
  if (!pruned || !tree.first_instance(pruned)) return {};
  std::vector<bool> below(tree.size());
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId parent = tree.parent(NodeId(i + 1));
    if (!parent) continue;
    below[i] = below[parent.value - 1] || tree.routine(parent) == pruned;
  }
  return below;
}

void FlatProfile::AddRows(const TraceModel& model) {
  constexpr uint32_t kNone = UINT32_MAX;
  row_of_routine_.assign(model.routine_count() + 1, kNone);
  ViewMap<uint32_t> row_of_name;  // of roots
  const auto add = [this](std::string_view name, RoutineId routine) {
    FlatRow& added = rows_.emplace_back();
    added.name = name;
    added.is_root = !routine;
    added.routine = routine;
    return static_cast<uint32_t>(rows_.size() - 1);
  };
  for (uint32_t i = 1; i <= tree_.size(); ++i) {
    const NodeId id(i);
    if (const RoutineId routine = tree_.routine(id); routine) {
      uint32_t& row = row_of_routine_[routine.value];
      if (row == kNone) row = add(model.RoutineName(routine), routine);
      continue;
    }
    const std::string_view name = model.thread(tree_.node(id).thread).name;
    uint32_t& row = row_of_name.try_emplace(name, kNone).first->second;
    if (row == kNone) row = add(name, RoutineId());
    row_of_root_[id] = row;
  }
}

FlatProfile::FlatProfile(const TraceModel& model, const CallTree& tree, const TreeTotals& totals,
                         const Measure& measure)
    : tree_(tree), by_measure_(measure.is_chosen) {
  AddRows(model);
  // Most nodes of a great tree have nothing but calls.
  struct Calls {
    int64_t all = 0, jitted = 0;
    bool instrumented = false;
  };
  std::vector<Calls> calls(rows_.size());
  const size_t end = EndOfValues(tree, totals, measure);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId id(i + 1);
    const uint32_t row = RowOf(id);
    if (i < end || tree.has_extremes(id)) {
      rows_[row].Add(id, tree.node(id), totals[i], measure);
      continue;
    }
    Calls& sum = calls[row];
    sum.all = WrapAdd(sum.all, tree.calls(id));
    sum.jitted = WrapAdd(sum.jitted, tree.calls_jitted(id));
    sum.instrumented |= tree.origin(id) == NodeOrigin::kEvent;
  }
  for (size_t row = 0; row < rows_.size(); ++row) {
    rows_[row].calls = WrapAdd(rows_[row].calls, calls[row].all);
    rows_[row].calls_jitted = WrapAdd(rows_[row].calls_jitted, calls[row].jitted);
    rows_[row].instrumented |= calls[row].instrumented;
  }
  const std::vector<bool> below_pruned = FindBelowPruned(model, tree);
  for (uint32_t i = 0; i < below_pruned.size(); ++i) {
    if (below_pruned[i]) rows_[RowOf(NodeId(i + 1))].has_bounds = true;
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

namespace {

void Sort(const TraceModel& model, bool by_measure, std::vector<ThreadRow>& rows) {
  const auto less = [&](const ThreadRow& row_a, const ThreadRow& row_b) {
    const FlatRow& a = row_a.sums;
    const FlatRow& b = row_b.sums;
    if (by_measure && a.measure.base != b.measure.base) return a.measure.base > b.measure.base;
    if (std::tie(a.base_ticks, a.base, a.calls) != std::tie(b.base_ticks, b.base, b.calls)) {
      return std::tie(a.base_ticks, a.base, a.calls) > std::tie(b.base_ticks, b.base, b.calls);
    }
    const std::string& thread_a = model.thread(row_a.thread).name;
    const std::string& thread_b = model.thread(row_b.thread).name;
    return std::tie(thread_a, a.name, a.is_root) < std::tie(thread_b, b.name, b.is_root);
  };
  std::stable_sort(rows.begin(), rows.end(), less);
}

}  // namespace

std::vector<ThreadRow> ThreadProfile(const TraceModel& model, const CallTree& tree,
                                     const TreeTotals& totals, const Measure& measure) {
  std::vector<ThreadRow> rows;
  std::vector<ThreadId> threads(tree.size());  // by node; parents come first
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> places;
  const std::vector<bool> below_pruned = FindBelowPruned(model, tree);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i + 1));
    threads[i] = node.parent ? threads[node.parent.value - 1] : node.thread;
    const auto [place, is_new] = places.try_emplace({threads[i].value, node.routine.value},
                                                    static_cast<uint32_t>(rows.size()));
    if (is_new) {
      FlatRow sums;
      sums.name = node.routine ? model.RoutineName(node.routine) : model.thread(node.thread).name;
      sums.is_root = !node.routine;
      sums.routine = node.routine;
      rows.push_back({threads[i], sums});
    }
    rows[place->second].sums.Add(NodeId(i + 1), node, totals[i], measure);
    if (!below_pruned.empty() && below_pruned[i]) rows[place->second].sums.has_bounds = true;
  }
  Sort(model, measure.is_chosen, rows);
  return rows;
}

}  // namespace jtrace::postproc
