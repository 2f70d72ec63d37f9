#include "postproc/calltree/measure.h"

#include <algorithm>
#include <iterator>

namespace jtrace::postproc {
namespace {

struct BuiltIn {
  std::string_view name;
  Measure::Kind kind;
  int64_t (*value)(const CallNode& node);
};

constexpr BuiltIn kBuiltIns[] = {
    {"calls", Measure::Kind::kCalls,
     [](const CallNode& node) { return node.parent ? node.calls : 0; }},
    {"ticks", Measure::Kind::kTicks, [](const CallNode& node) { return node.base_ticks; }},
    {"time", Measure::Kind::kTime, [](const CallNode& node) { return node.base; }},
    {"off", Measure::Kind::kOff, [](const CallNode& node) { return node.off; }},
};

const BuiltIn* FindBuiltIn(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kBuiltIns), std::end(kBuiltIns),
                                         [&](const BuiltIn& it) { return it.name == name; });
  return found == std::end(kBuiltIns) ? nullptr : found;
}

NodeId NodeNumber(size_t index) { return NodeId(static_cast<uint32_t>(index + 1)); }

// Nodes from this index on have no such value.
size_t EndOf(const CallTree& tree, const BuiltIn& built_in) {
  return built_in.kind == Measure::Kind::kCalls ? tree.size() : tree.end_of_values();
}

bool HasAny(const CallTree& tree, const BuiltIn& built_in) {
  for (size_t i = 0; i < EndOf(tree, built_in); ++i) {
    if (built_in.value(tree.node(NodeNumber(i))) != 0) return true;
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

PrefixColumn<int64_t> BuiltInBase(const CallTree& tree, const BuiltIn& built_in) {
  PrefixColumn<int64_t> base(EndOf(tree, built_in));
  for (size_t i = 0; i < base.size(); ++i) base.At(i) = built_in.value(tree.node(NodeNumber(i)));
  return base;
}

}  // namespace

size_t EndOfValues(const CallTree& tree, const TreeTotals& totals, const Measure& measure) {
  return std::max(
      {tree.end_of_values(), totals.end_of_sums(), measure.base.size(), measure.cum.size()});
}

std::vector<MetricId> MetricsByName(const TraceModel& model) {
  std::vector<MetricId> metrics;
  for (uint32_t i = 1; i <= model.metric_count(); ++i) metrics.emplace_back(i);
  std::sort(metrics.begin(), metrics.end(),
            [&](MetricId a, MetricId b) { return model.MetricName(a) < model.MetricName(b); });
  return metrics;
}

std::vector<std::string> MeasureNames(const TraceModel& model, const CallTree& tree) {
  std::vector<std::string> names;
  for (const BuiltIn& it : kBuiltIns) {
    if (HasAny(tree, it)) names.emplace_back(it.name);
  }
  const std::vector<bool> used = UsedMetrics(model, tree);
  for (const MetricId metric : MetricsByName(model)) {
    const std::string_view name = model.MetricName(metric);
    const bool hidden = std::find(names.begin(), names.end(), name) != names.end();
    if (used[metric.value - 1] && !hidden) names.emplace_back(name);
  }
  if (names.empty()) names.emplace_back("calls");
  return names;
}

Measure MakeMeasure(std::string_view name, const TraceModel& model, const CallTree& tree) {
  Measure measure;
  measure.name = name;
  const BuiltIn* built_in = FindBuiltIn(name);
  const MetricId metric = model.FindMetric(name);
  if (built_in != nullptr && (!metric || HasAny(tree, *built_in))) {
    measure.kind = built_in->kind;
    measure.base = BuiltInBase(tree, *built_in);
  } else {
    measure.kind = Measure::Kind::kMetric;
    measure.unit = InfoOfMetric(name).unit;
    measure.base = tree.MetricBase(metric);
  }
  measure.cum = measure.base;
  tree.AccumulateUpwards(measure.cum.values());
  const auto is_negative = [](int64_t value) { return value < 0; };
  const auto has_negative = [&](const std::vector<int64_t>& values) {
    return std::any_of(values.begin(), values.end(), is_negative);
  };
  measure.has_negative = has_negative(measure.base.values()) || has_negative(measure.cum.values());
  for (const NodeId root : tree.roots()) measure.whole = WrapAdd(measure.whole, measure.Cum(root));
  return measure;
}

Measure ChooseMeasure(std::string_view metric, const TraceModel& model, const CallTree& tree) {
  if (!metric.empty()) {
    Measure measure = MakeMeasure(metric, model, tree);
    measure.is_chosen = true;
    return measure;
  }
  for (const std::string_view name : {"ticks", "time"}) {
    if (HasAny(tree, *FindBuiltIn(name))) return MakeMeasure(name, model, tree);
  }
  return MakeMeasure("calls", model, tree);
}

}  // namespace jtrace::postproc
