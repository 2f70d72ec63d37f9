// Samples by the function or the module they interrupted (S1.1, Tables 1 and 2).
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/report/report.h"
#include "postproc/samples/path_tree.h"

namespace jtrace::postproc {
namespace {

// Counts by name, of the innermost frame of every sample.
template <typename NameOf>
Table CountInnermost(const ReportInput& input, NameOf name_of) {
  const std::vector<int64_t> weights = WeightByStack(input.samples);
  std::vector<bool> sampled(weights.size());
  for (const LoggedSample& sample : input.samples.samples()) sampled[sample.stack.value] = true;
  ViewMap<int64_t> by_name;
  int64_t whole = 0;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (!sampled[i]) continue;
    const std::string_view name =
        i == 0 ? std::string_view("[no_frames]")
               : name_of(input.model.frame(input.samples.stacks().Innermost(StackId(i))));
    int64_t& count = by_name[name];
    count = WrapAdd(count, weights[i]);
    whole = WrapAdd(whole, weights[i]);
  }
  std::vector<std::pair<std::string_view, int64_t>> sorted(by_name.begin(), by_name.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });

  Table table;
  table.columns = {{"name"}, {"samples", Style::kCount}, {"percent"}};
  for (const auto& [name, count] : sorted) {
    const double percent = PercentOf(count, whole);
    if (percent < input.options.filter_percent) continue;
    table.rows.push_back({Cell::Text(name), Cell::Int(count), Cell::Percent(percent)});
  }
  return table;
}

}  // namespace

Table FunctionsTable(const ReportInput& input) {
  return CountInnermost(input,
                        [&](const Frame& frame) { return input.model.RoutineName(frame.routine); });
}

Table ModulesTable(const ReportInput& input) {
  return CountInnermost(input, [&](const Frame& frame) { return input.model.ModuleOf(frame); });
}

}  // namespace jtrace::postproc
