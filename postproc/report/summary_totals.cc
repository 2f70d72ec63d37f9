#include "postproc/report/summary_totals.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {

Totals SumUp(const ReportInput& input) {
  Totals totals;
  for (const FlatRow& row : input.flat().rows()) {
    // Counts of hooks have a separate line.
    if (row.is_root || input.model.IsHooked(row.routine)) continue;
    switch (input.model.TraitsOf(row.routine).kind) {
      case RoutineKind::kCall:
      case RoutineKind::kNative:
      case RoutineKind::kPark:
      case RoutineKind::kMonitorEnter:
      case RoutineKind::kMonitorExit:
        continue;
      case RoutineKind::kThrown:
      case RoutineKind::kCaught:
        totals.exceptions = WrapAdd(totals.exceptions, row.calls);
        continue;
      case RoutineKind::kMethod:
        break;
    }
    totals.calls = WrapAdd(totals.calls, row.calls);
    totals.calls_jitted = WrapAdd(totals.calls_jitted, row.calls_jitted);
    totals.routines += row.instrumented;
  }
  for (const OutsideCost& cost : input.outside()) {
    totals.boundary = WrapAdd(totals.boundary, cost.calls);
  }
  for (const NodeId root : input.tree.roots()) {
    totals.cum = WrapAdd(totals.cum, input.totals()[root.value - 1].cum);
  }
  return totals;
}

std::vector<MetricTotal> MetricTotals(const ReportInput& input) {
  std::vector<int64_t> sums(input.model.metric_count() + 1);
  input.tree.ForEachMetric([&](MetricId metric, NodeId, int64_t value) {
    sums[metric.value] = WrapAdd(sums[metric.value], value);
  });
  std::vector<MetricTotal> totals;
  for (const MetricId metric : MetricsByName(input.model)) {
    totals.push_back({InfoOfMetric(input.model.MetricName(metric)), sums[metric.value]});
  }
  return totals;
}

std::vector<OutsideGroup> OutsideGroups(const ReportInput& input) {
  std::vector<OutsideGroup> groups;
  for (size_t i = 0; i < kRoutineCosts; ++i) {
    const auto group = static_cast<RoutineCost>(i);
    if (input.outside()[i].calls == 0) continue;
    groups.push_back(
        {.name = group == RoutineCost::kUnclassified ? "unclassified" : RoutineCostName(group),
         .cost = input.outside()[i],
         .is_charged = group != RoutineCost::kUserInput});
  }
  return groups;
}

std::vector<Loss> AllLosses(const ReportInput& input) {
  std::vector<Loss> losses;
  for (const TraceInfo& trace : input.model.traces()) {
    losses.insert(losses.end(), trace.losses.begin(), trace.losses.end());
    if (!trace.cut_off || trace.running) continue;
    Loss cut;
    cut.name = "trace.cut_off";
    cut.count = 1;
    cut.what = "trace without its last record";
    cut.advice =
        "later records are not in it: the program was killed or is running, or the file was cut";
    losses.push_back(std::move(cut));
  }
  if (input.records.dropped_events() > 0) {
    Loss dropped;
    dropped.name = "log.dropped_events";
    dropped.count = input.records.dropped_events();
    dropped.what =
        "entries and exits left out of the log: counted in trees, without order and times";
    dropped.advice = "see the [dropped] nodes; a narrower include= records less, record=tree all";
    losses.push_back(std::move(dropped));
  }
  for (const Problem problem : input.stats.Occurred()) {
    const ProblemInfo& info = InfoOf(problem);
    Loss loss;
    loss.name = "import";
    loss.severity = info.severity;
    loss.count = input.stats.count(problem);
    loss.what = info.what;
    loss.advice = info.advice;
    losses.push_back(std::move(loss));
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const Loss& a, const Loss& b) { return a.severity > b.severity; });
  return losses;
}

}  // namespace jtrace::postproc
