// Where threads wait, and for what (timer=wall).
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {
namespace {

Table WaitsTable(const ReportInput& input) {
  using Row = std::pair<WaitLog::Place, const WaitLog::Total*>;
  std::vector<Row> rows;
  for (const auto& [place, total] : input.waits.places()) rows.emplace_back(place, &total);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second->ticks > b.second->ticks; });
  Table table;
  table.columns = {{"state"},
                   {"ticks", Style::kTicks},
                   {"percent"},
                   {"samples", Style::kCount},
                   {"threads", Style::kCount},
                   {"on"},
                   {"call"},
                   {"site"}};
  for (const auto& [place, total] : rows) {
    const double percent = PercentOf(total->ticks, input.waits.ticks());
    if (percent < input.options.filter_percent) continue;
    table.rows.push_back({Cell::Text(SampleStateName(place.state)), Cell::Int(total->ticks),
                          Cell::Percent(percent), Cell::Int(total->samples),
                          Cell::Int(static_cast<int64_t>(total->threads.size())),
                          Cell::Text(place.on), Cell::Text(place.call), Cell::Text(place.site)});
  }
  return table;
}

}  // namespace

extern const Report kWaitsReport = {
    .name = "waits",
    .group = ReportGroup::kSamples,
    .summary = "where threads wait, and for what",
    .example = "jtrace-post --report=waits --top=20 trace.bin",
    .accepts = kAcceptsOfRecords,
    .instead = {{kAcceptsMetric,
                 "it is about samples of waiting threads; --report=flat has metrics by routine"}},
    .if_empty = "no samples of waiting threads; timer=wall records them",
    .table = WaitsTable,
};

}  // namespace jtrace::postproc
