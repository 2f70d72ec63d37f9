#include "postproc/export/weights.h"

#include <algorithm>
#include <array>
#include <utility>

#include "postproc/report/units.h"

namespace jtrace::postproc {
namespace {

struct BuiltIn {
  std::string_view name;
  int64_t (*value)(const CallNode& node);
};

constexpr BuiltIn kBuiltIns[] = {
    {"calls", [](const CallNode& node) { return node.parent ? node.calls : 0; }},
    {"ticks", [](const CallNode& node) { return node.base_ticks; }},
    {"time", [](const CallNode& node) { return node.base; }},
    {"off", [](const CallNode& node) { return node.off; }},
};

NodeId NodeNumber(size_t index) { return NodeId(static_cast<uint32_t>(index + 1)); }

bool HasAny(const CallTree& tree, const BuiltIn& weight) {
  for (size_t i = 0; i < tree.size(); ++i) {
    if (weight.value(tree.node(NodeNumber(i))) != 0) return true;
  }
  return false;
}

std::vector<bool> UsedMetrics(const TraceModel& model, const CallTree& tree) {
  std::vector<bool> used(model.metric_count());
  tree.ForEachMetric([&](MetricId metric, NodeId, int64_t value) {
    if (value != 0) used[metric.value - 1] = true;
  });
  return used;
}

std::string_view LongName(TimeUnit unit) {
  constexpr std::array<std::string_view, 4> kNames = {"nanoseconds", "microseconds", "milliseconds",
                                                      "ticks"};
  return kNames[static_cast<size_t>(unit)];
}

// Unit and length of one of it.
std::pair<std::string_view, int64_t> UnitOf(std::string_view name, const ReportInput& input) {
  const TimeUnit time = input.model.unit();
  if (name == "calls") return {"count", 0};
  if (name == "ticks") return {"ticks", input.model.interval_ns()};
  if (name == "time" || name == "off") return {LongName(time), NanosecondsPer(time)};
  const std::string_view unit = MetricUnit(name);
  if (unit == "ns") return {"nanoseconds", 1};
  return {unit, 0};
}

Weight MakeWeight(std::string_view name, const ReportInput& input) {
  Weight weight;
  weight.name = name;
  const auto [unit, unit_ns] = UnitOf(name, input);
  weight.unit = unit;
  weight.unit_ns = unit_ns;
  const auto* const built_in = std::find_if(std::begin(kBuiltIns), std::end(kBuiltIns),
                                            [&](const BuiltIn& it) { return it.name == name; });
  if (built_in == std::end(kBuiltIns)) {
    weight.values = input.tree.MetricBase(input.model.FindMetric(name));
    return weight;
  }
  weight.values.resize(input.tree.size());
  for (size_t i = 0; i < weight.values.size(); ++i) {
    weight.values[i] = built_in->value(input.tree.node(NodeNumber(i)));
  }
  return weight;
}

}  // namespace

std::vector<std::string> WeightNames(const TraceModel& model, const CallTree& tree) {
  std::vector<std::string> names;
  for (const BuiltIn& it : kBuiltIns) {
    if (HasAny(tree, it)) names.emplace_back(it.name);
  }
  const std::vector<bool> used = UsedMetrics(model, tree);
  for (size_t i = 0; i < used.size(); ++i) {
    const std::string_view name = model.MetricName(MetricId(static_cast<uint32_t>(i + 1)));
    const bool hidden = std::find(names.begin(), names.end(), name) != names.end();
    if (used[i] && !hidden) names.emplace_back(name);
  }
  if (names.empty()) names.emplace_back("calls");
  return names;
}

std::vector<Weight> WeightsOf(const ReportInput& input) {
  std::vector<std::string> names = WeightNames(input.model, input.tree);
  const std::string& chosen = input.options.metric;
  if (!chosen.empty() && std::find(names.begin(), names.end(), chosen) == names.end()) {
    names.push_back(chosen);
  }
  std::vector<Weight> weights;
  for (const std::string& name : names) weights.push_back(MakeWeight(name, input));
  return weights;
}

size_t PrimaryWeight(const ReportInput& input, const std::vector<Weight>& weights) {
  const auto index_of = [&](std::string_view name) {
    const auto found = std::find_if(weights.begin(), weights.end(),
                                    [&](const Weight& it) { return it.name == name; });
    return static_cast<size_t>(found - weights.begin());
  };
  if (!input.options.metric.empty()) return index_of(input.options.metric);
  for (const std::string_view name : {"ticks", "time", "calls"}) {
    if (const size_t index = index_of(name); index < weights.size()) return index;
  }
  return 0;
}

}  // namespace jtrace::postproc
