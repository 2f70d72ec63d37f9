#include "postproc/fleet/run_tables.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "postproc/calltree/group_name.h"
#include "postproc/fleet/row.h"
#include "postproc/fleet/schema.h"
#include "postproc/model/metric_info.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc::fleet {
namespace {

// Without a clock no node has time: unknown, not 0.
bool HasTimes(const FleetTree& tree) {
  return std::any_of(tree.nodes().begin(), tree.nodes().end(),
                     [](const FleetNode& node) { return node.base != 0 || node.off != 0; });
}

void AddTimes(const RunFacts& facts, bool has_times, std::initializer_list<int64_t> times,
              Row& row) {
  for (const int64_t time : times) {
    if (has_times) {
      row.Maybe(facts.Nanoseconds(time));
    } else {
      row.Null();
    }
  }
}

// A group of samples: node, function + 1 (0: none), state, module, blocker, labels.
using SampleKey = std::tuple<uint32_t, uint32_t, SampleState, std::string_view, std::string_view,
                             std::string_view>;
struct SampleSums {
  int64_t samples = 0;
  int64_t ticks = 0;
};

// Classes that share a stable name. A name that was only unloaded says nothing of what was loaded.
struct MergedClass {
  ClassLog::Entry sum;  // methods and source: of the name whose first load is the latest
  int64_t latest_load = 0;

  void Add(const ClassLog::Entry& entry) {
    if (entry.loads > 0) {
      const bool is_first = sum.loads == 0;
      sum.first_load = is_first ? entry.first_load : std::min(sum.first_load, entry.first_load);
      if (is_first || entry.first_load >= latest_load) {
        latest_load = entry.first_load;
        sum.methods = entry.methods;
        sum.source = entry.source;
      }
    }
    sum.loads = WrapAdd(sum.loads, entry.loads);
    sum.unloads = WrapAdd(sum.unloads, entry.unloads);
  }
};

}  // namespace

void AddRun(const ReportInput& input, const RunFacts& facts, const Labels& labels,
            parquet::Table& runs) {
  const TraceInfo& trace = input.model.traces().front();
  Row row(runs);
  row.Int(facts.id).Text(facts.trace).TextOrNull(labels.version).TextOrNull(labels.container);
  row.Maybe(facts.pid).Maybe(facts.start_ns).Maybe(facts.duration_ns);
  for (const char* key : {"jvm", "command", "options", "mode", "record", "clock", "timer"}) {
    row.TextOrNull(trace.Fact(key));
  }
  row.Maybe(facts.interval_ns);
  row.TextOrNull(trace.Fact("agent_version")).Maybe(NumberFact(trace, "agent_cpu_ns"));
  row.Bool(!trace.cut_off && !trace.running).Int(kSchemaVersion);
}

void AddNodes(const RunFacts& facts, const FleetTree& tree, parquet::Table& nodes) {
  const bool has_times = HasTimes(tree);
  for (const FleetNode& node : tree.nodes()) {
    Row row(nodes);
    row.Int(facts.id).Text(tree.groups()[node.group]);
    row.Int(node.path.high()).Int(node.path.low()).Int(node.calls).Int(node.calls_jitted);
    AddTimes(facts, has_times, {node.base, node.cum, node.off}, row);
    row.Int(node.base_ticks).Int(node.cum_ticks);
  }
}

void AddArcs(const RunFacts& facts, const FleetTree& tree, parquet::Table& arcs) {
  constexpr int64_t kNoCaller = -1;
  std::map<std::tuple<int64_t, uint32_t, bool>, FleetSums> sums;  // caller, callee, outermost
  for (const FleetNode& node : tree.nodes()) {
    if (node.depth == 0) continue;
    const FleetNode& parent = tree.nodes()[node.parent];
    const int64_t caller = parent.depth == 0 ? kNoCaller : int64_t{parent.routine};
    sums[{caller, node.routine, node.level == 1}].Add(node);
  }
  const bool has_times = HasTimes(tree);
  for (const auto& [key, sum] : sums) {
    const auto& [caller, callee, outermost] = key;
    Row row(arcs);
    row.Int(facts.id);
    if (caller == kNoCaller) {
      row.Null();
    } else {
      row.Int(tree.routines()[static_cast<size_t>(caller)].id);
    }
    row.Int(tree.routines()[callee].id).Bool(outermost);
    row.Int(sum.calls).Int(sum.calls_jitted);
    AddTimes(facts, has_times, {sum.base, sum.cum}, row);
    row.Int(sum.base_ticks).Int(sum.cum_ticks);
  }
}

void AddSamples(const ReportInput& input, const RunFacts& facts, const FleetTree& tree,
                parquet::Table& samples) {
  const std::vector<LoggedSample>& log = input.samples.samples();
  if (input.tree.ticked().size() != log.size()) return;
  std::map<SampleKey, SampleSums> sums;
  for (size_t i = 0; i < log.size(); ++i) {
    const NodeId ticked = input.tree.ticked()[i];
    if (!ticked) continue;
    const RoutineId function = input.tree.node(ticked).routine;
    std::string_view module;
    if (log[i].stack) {
      const FrameId innermost = input.samples.stacks().Innermost(log[i].stack);
      module = input.model.ModuleOf(input.model.frame(innermost));
    }
    SampleSums& sum = sums[{tree.NodeOf(ticked), function ? tree.RoutineOf(function) + 1 : 0,
                            log[i].state, module, input.model.ClassName(log[i].blocker),
                            input.model.LabelsText(log[i].labels)}];
    ++sum.samples;
    sum.ticks = WrapAdd(sum.ticks, log[i].weight);
  }
  for (const auto& [key, sum] : sums) {
    const auto& [index, function, state, module, blocker, labels] = key;
    const FleetNode& node = tree.nodes()[index];
    Row row(samples);
    row.Int(facts.id).Text(tree.groups()[node.group]).Int(node.path.high()).Int(node.path.low());
    row.Text(SampleStateName(state));
    if (function == 0) {
      row.Null();
    } else {
      row.Int(tree.routines()[function - 1].id);
    }
    row.TextOrNull(module).TextOrNull(StableClassName(blocker)).Int(sum.samples).Int(sum.ticks);
    row.TextOrNull(labels);
  }
}

void AddThreads(const ReportInput& input, const RunFacts& facts, parquet::Table& threads) {
  std::vector<int64_t> calls(input.tree.size());
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i + 1));
    if (node.parent) calls[i] = node.calls;
  }
  input.tree.AccumulateUpwards(calls);
  for (const ThreadSummary& thread : input.threads) {
    const ThreadInfo& info = input.model.thread(thread.thread);
    Row row(threads);
    row.Int(facts.id).Text(GroupName(info.name)).Text(info.name);
    row.Maybe(info.tid == 0 ? std::nullopt : std::optional(info.tid));
    row.Int(std::max<int64_t>(1, info.folded_threads));
    row.Bool(info.is_virtual).Bool(info.is_daemon).Bool(info.is_vm_internal);
    row.Int(calls[thread.root.value - 1]).Int(thread.samples);
    row.Int(input.totals()[thread.root.value - 1].cum_ticks);
  }
}

void AddMetrics(const ReportInput& input, const RunFacts& facts, const FleetTree& tree,
                parquet::Table& metrics) {
  std::map<std::pair<uint32_t, uint32_t>, int64_t> sums;  // metric, node
  input.tree.ForEachMetric([&](MetricId metric, NodeId node, int64_t value) {
    int64_t& sum = sums[{metric.value, tree.NodeOf(node)}];
    sum = WrapAdd(sum, value);
  });
  for (const auto& [key, value] : sums) {
    const std::string_view name = input.model.MetricName(MetricId(key.first));
    const FleetNode& node = tree.nodes()[key.second];
    Row(metrics)
        .Int(facts.id)
        .Text(tree.groups()[node.group])
        .Int(node.path.high())
        .Int(node.path.low())
        .Text(name)
        .Text(MetricUnitName(InfoOfMetric(name).unit))
        .Int(value);
  }
}

void AddClasses(const ReportInput& input, const RunFacts& facts, parquet::Table& classes) {
  std::map<std::string, MergedClass> merged;
  for (const auto& [name, entry] : input.classes.classes()) {
    merged[StableClassName(name)].Add(entry);
  }
  for (const auto& [name, it] : merged) {
    const ClassLog::Entry& entry = it.sum;
    Row row(classes);
    row.Int(facts.id).Text(name);
    row.Maybe(entry.loads == 0 ? std::nullopt : std::optional(entry.methods));
    row.Int(entry.loads).Int(entry.unloads);
    row.Maybe(entry.loads == 0 ? std::nullopt : facts.Nanoseconds(entry.first_load));
    row.TextOrNull(entry.source);
  }
}

void AddLosses(const ReportInput& input, const RunFacts& facts, parquet::Table& losses) {
  for (const Loss& loss : input.model.traces().front().losses) {
    Row(losses)
        .Int(facts.id)
        .Text(loss.name)
        .Text(SeverityName(loss.severity))
        .Int(loss.count)
        .Text(loss.what)
        .TextOrNull(loss.advice);
  }
}

}  // namespace jtrace::postproc::fleet
