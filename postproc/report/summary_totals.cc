#include "postproc/report/summary_totals.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "postproc/support/strings.h"

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

namespace {

// Two frames of one name are one function.
using HookName = std::pair<std::string, HookKind>;
using CallerName = std::tuple<std::string_view, std::string_view, std::string>;

struct Parts {
  absl::btree_set<std::string_view> patterns;
  absl::btree_map<CallerName, HookSums> callers;
  absl::btree_set<RoutineId> methods;  // of Java: the tree has their calls
};

std::string ShownName(const TraceModel& model, FrameId id) {
  if (!id) return "";
  const Frame& frame = model.frame(id);
  const std::string_view name = model.RoutineName(frame.routine);
  const std::string_view tail = frame.is_tail_call ? " [tail call]" : "";
  if (!frame.module && !frame.is_tail_call) return std::string(name);
  return StrCat(model.ModuleName(frame.module), tail, "!", name);
}

CallerName NameOf(const TraceModel& model, const HookLog::Caller& caller) {
  return {caller.thread ? std::string_view(model.thread(caller.thread).name) : "",
          caller.java ? model.RoutineName(caller.java) : "", ShownName(model, caller.native)};
}

// Calls of a Java method by the nodes above its nodes.
void AddCallsOfMethod(const ReportInput& input, RoutineId method, Parts& parts) {
  const TraceModel& model = input.model;
  const CallTree& tree = input.tree;
  for (NodeId id = tree.first_instance(method); id; id = tree.next_instance(id)) {
    const CallNode& node = tree.node(id);
    if (node.calls == 0 || !node.parent) continue;
    const RoutineId caller = tree.node(node.parent).routine;
    NodeId root = node.parent;
    while (tree.node(root).parent) root = tree.node(root).parent;
    const ThreadId thread = input.hooks.by_thread() ? tree.node(root).thread : ThreadId();
    HookSums sums;
    sums.calls = node.calls;
    const CallerName name = {thread ? std::string_view(model.thread(thread).name) : "",
                             caller ? model.RoutineName(caller) : "", ""};
    parts.callers[name].Add(sums);
  }
}

HookTotal TotalOf(const HookName& name, const Parts& parts) {
  HookTotal total;
  std::tie(total.name, total.kind) = name;
  total.is_method = !parts.methods.empty();
  for (const std::string_view pattern : parts.patterns) {
    StrAppend(&total.pattern, total.pattern.empty() ? "" : ";", pattern);
  }
  for (const auto& [caller, sums] : parts.callers) {
    const auto& [thread, java, native] = caller;
    total.callers.push_back({thread, java, native, sums});
    total.sums.Add(sums);
  }
  const auto by_calls = [](const auto& a, const auto& b) { return a.sums.calls > b.sums.calls; };
  std::stable_sort(total.callers.begin(), total.callers.end(), by_calls);
  return total;
}

}  // namespace

std::vector<HookTotal> HookTotals(const ReportInput& input) {
  const TraceModel& model = input.model;
  absl::btree_map<HookName, Parts> by_name;
  for (const TraceInfo& trace : model.traces()) {
    for (const HookInfo& hook : trace.hooks) {
      Parts& parts = by_name[{ShownName(model, hook.frame), hook.kind}];
      if (!hook.pattern.empty()) parts.patterns.insert(hook.pattern);
      const Frame& frame = model.frame(hook.frame);
      // Without a pattern it is a record of calls, which counts them itself.
      const bool is_method = IsJava(frame.origin) && !hook.pattern.empty();
      if (is_method && parts.methods.insert(frame.routine).second) {
        AddCallsOfMethod(input, frame.routine, parts);
      }
    }
  }
  for (const auto& [key, callers] : input.hooks.hooks()) {
    Parts& parts = by_name[{ShownName(model, key.first), key.second}];
    for (const auto& [caller, sums] : callers) parts.callers[NameOf(model, caller)].Add(sums);
  }
  std::vector<HookTotal> totals;
  for (const auto& [name, parts] : by_name) totals.push_back(TotalOf(name, parts));
  std::stable_sort(totals.begin(), totals.end(), [](const HookTotal& a, const HookTotal& b) {
    return a.sums.calls > b.sums.calls;
  });
  return totals;
}

int64_t HookedCalls(const std::vector<HookTotal>& hooks) {
  HookSums all;
  for (const HookTotal& hook : hooks) all.Add(hook.sums);
  return all.calls;
}

}  // namespace jtrace::postproc
