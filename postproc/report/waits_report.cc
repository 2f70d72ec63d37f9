// Where threads wait and for what (timer=wall); which threads they waited for (codes=+waited).
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
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

// Which threads others waited for (codes=+waited, S4.17).
namespace {

using Wait = WaitedLog::Wait;
using Total = WaitedLog::Total;

// One thread that was waited for.
struct Group {
  std::string_view waited_for;
  Total total;
  std::vector<std::pair<const Wait*, const Total*>> waits;
};

// Most time first; rows of equal times stay in the order of their names.
std::vector<Group> Groups(const WaitedLog& log) {
  absl::btree_map<std::string_view, Group> by_name;
  for (const auto& [wait, total] : log.waits()) {
    Group& group = by_name[wait.waited_for];
    group.waited_for = wait.waited_for;
    group.total.Add(total);
    group.waits.emplace_back(&wait, &total);
  }
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) {
    std::stable_sort(group.waits.begin(), group.waits.end(),
                     [](const auto& a, const auto& b) { return a.second->time > b.second->time; });
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.total.time > b.total.time; });
  return groups;
}

std::vector<Cell> Row(std::string_view row, const Wait& wait, const Total& total) {
  return {Cell::Text(row),       Cell::Text(wait.waited_for), Cell::Int(total.waits),
          Cell::Int(total.time), Cell::Int(total.longest),    Cell::Text(wait.kind),
          Cell::Text(wait.how),  Cell::Text(wait.waiter),     Cell::Text(wait.on),
          Cell::Text(wait.at),   Cell::Text(wait.by)};
}

Table WaitedTable(const ReportInput& input) {
  const std::vector<Group> groups = Groups(input.waited);
  int64_t whole = 0;
  for (const Group& group : groups) whole = WrapAdd(whole, group.total.time);
  Table table;
  table.columns = {{"row"},
                   {"waited_for"},
                   {"waits", Style::kCount},
                   {"time", Style::kTime},
                   {"longest", Style::kTime},
                   {"kind"},
                   {"how"},
                   {"waiter"},
                   {"on"},
                   {"at"},
                   {"by"}};
  for (const Group& group : groups) {
    if (IsFiltered(input, group.total.time, whole)) continue;
    Wait sum;
    sum.waited_for = group.waited_for;
    table.rows.push_back(Row("sum", sum, group.total));
    for (const auto& [wait, total] : group.waits) {
      table.rows.push_back(Row("wait", *wait, *total));
    }
  }
  return table;
}

}  // namespace

extern const Report kWaitedReport = {
    .name = "waited",
    .group = ReportGroup::kThreads,
    .summary = "which threads others waited for, where, how often and how long (codes=+waited)",
    .example = "jtrace-post --report=waited --top=20 trace.bin",
    .accepts = kAcceptsOfTree,
    .if_empty = "no waits for other threads; codes=+waited records them",
    .table = WaitedTable,
};

}  // namespace jtrace::postproc
