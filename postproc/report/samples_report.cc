// Every sample with its stack (FIG. 25), and samples by function and module (S1.1).
#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/report/report.h"
#include "postproc/samples/path_tree.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

Table SamplesTable(const ReportInput& input) {
  Table table;
  table.columns = {{"sample", Style::kCount},
                   {"time", Style::kTime},
                   Column{"thread"}.AsPlain(),
                   {"stack"},
                   {"weight", Style::kCount},
                   {"state"},
                   {"on"},
                   Column{"labels"}.AsPlain()};
  const std::vector<LoggedSample>& samples = input.samples.samples();
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return samples[a].time < samples[b].time; });
  int64_t number = 0;
  for (const uint32_t index : order) {
    const LoggedSample& sample = samples[index];
    std::string stack;
    for (const FrameId frame : input.samples.stacks().Frames(sample.stack)) {
      StrAppend(&stack, stack.empty() ? "" : " > ", input.model.FrameText(frame));
    }
    table.rows.push_back({Cell::Int(++number), Cell::Int(sample.time),
                          Cell::Text(input.model.thread(sample.thread).name), Cell::Text(stack),
                          Cell::Int(sample.weight), Cell::Text(SampleStateName(sample.state)),
                          Cell::Text(input.model.ClassName(sample.blocker)),
                          Cell::Text(input.model.LabelsText(sample.labels))});
  }
  return table;
}

}  // namespace

extern const Report kSamplesReport = {
    .name = "samples",
    .group = ReportGroup::kSamples,
    .summary = "every sample with its stack",
    .example = "jtrace-post --report=samples --thread='worker-*' trace.bin",
    .accepts = kAcceptsOfRecords,
    .instead = {{kAcceptsMetric, "it lists samples; --report=paths has metrics by path"}},
    .if_empty = kNoSamplesRecorded,
    .table = SamplesTable,
};

// Samples by the function or the module they interrupted (S1.1, Tables 1 and 2); functions also
// with their values of --metric.
namespace {

// Counts by name, of the innermost frame of every sample.
template <typename NameOf>
ViewMap<int64_t> CountInnermost(const ReportInput& input, NameOf name_of) {
  const std::vector<int64_t> weights = WeightByStack(input.samples);
  std::vector<bool> sampled(weights.size());
  for (const LoggedSample& sample : input.samples.samples()) sampled[sample.stack.value] = true;
  ViewMap<int64_t> by_name;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (!sampled[i]) continue;
    const std::string_view name =
        i == 0 ? std::string_view("[no_frames]")
               : name_of(input.model.frame(input.samples.stacks().Innermost(StackId(i))));
    int64_t& count = by_name[name];
    count = WrapAdd(count, weights[i]);
  }
  return by_name;
}

Table CountsTable(const ReportInput& input, const ViewMap<int64_t>& by_name) {
  const int64_t whole = TotalWeight(input.samples);
  std::vector<std::pair<std::string_view, int64_t>> sorted(by_name.begin(), by_name.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });

  Table table;
  table.columns = {{"name"}, {"samples", Style::kCount}, {"percent"}};
  for (const auto& [name, count] : sorted) {
    const double percent = PercentOf(count, whole);
    if (IsFiltered(input, count, whole)) continue;
    table.rows.push_back({Cell::Text(name), Cell::Int(count), Cell::Percent(percent)});
  }
  return table;
}

struct NameSums {
  int64_t samples = 0;
  int64_t base = 0;  // of the measure
};

// The functions that samples interrupted, and those with a value of the measure; threads have the
// values outside of functions.
Table WithMeasure(const ReportInput& input, const ViewMap<int64_t>& samples) {
  ViewMap<NameSums> by_name;
  for (const auto& [name, count] : samples) by_name[name].samples = count;
  for (const FlatRow& row : input.flat().rows()) {
    if (row.measure.base == 0) continue;
    NameSums& sums = by_name[row.name];
    sums.base = WrapAdd(sums.base, row.measure.base);
  }
  std::vector<std::pair<std::string_view, NameSums>> sorted(by_name.begin(), by_name.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second.base, b.second.samples, a.first) <
           std::tie(a.second.base, a.second.samples, b.first);
  });
  const Measure& measure = input.measure();
  Table table;
  table.columns = {{"name"},
                   {"samples", Style::kCount},
                   {"percent"},
                   {StrCat(measure.name, ".base"), StyleOf(measure)},
                   {StrCat(measure.name, ".base_pct")}};
  const int64_t all_samples = TotalWeight(input.samples);
  for (const auto& [name, sums] : sorted) {
    const double percent = PercentOf(sums.base, measure.whole);
    if (IsFiltered(input, sums.base, measure.whole)) continue;
    table.rows.push_back({Cell::Text(name), Cell::Int(sums.samples),
                          Cell::Percent(PercentOf(sums.samples, all_samples)), Cell::Int(sums.base),
                          Cell::Percent(percent)});
  }
  return table;
}

Table FunctionsTable(const ReportInput& input) {
  const ViewMap<int64_t> samples = CountInnermost(
      input, [&](const Frame& frame) { return input.model.RoutineName(frame.routine); });
  return input.measure().is_chosen ? WithMeasure(input, samples) : CountsTable(input, samples);
}

Table ModulesTable(const ReportInput& input) {
  return CountsTable(input, CountInnermost(input, [&](const Frame& frame) {
                       return input.model.ModuleOf(frame);
                     }));
}

}  // namespace

extern const Report kFunctionsReport = {
    .name = "functions",
    .group = ReportGroup::kSamples,
    .summary = "samples by the function they interrupted",
    .example = "jtrace-post --report=functions --format=csv trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsMetric,
    .if_empty = kNoSamplesRecorded,
    .table = FunctionsTable,
};

extern const Report kModulesReport = {
    .name = "modules",
    .group = ReportGroup::kSamples,
    .summary = "samples by module",
    .example = "jtrace-post --report=modules trace.bin",
    .accepts = kAcceptsOfRecords,
    .instead = {{kAcceptsMetric,
                 "metrics are those of Java methods, which are in no module; --report=classes has "
                 "them by class"}},
    .if_empty = kNoSamplesRecorded,
    .table = ModulesTable,
};

}  // namespace jtrace::postproc
