// A row for each routine of each thread (S3.11).
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "postproc/calltree/thread_profile.h"
#include "postproc/report/report.h"
#include "postproc/report/thread_order.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::vector<ThreadRow> ShownThreadRows(const ReportInput& input) {
  std::vector<ThreadRow> rows = ThreadProfile(input.model, input.tree, input.totals, input.measure);
  std::erase_if(rows, [&](const ThreadRow& row) {
    return IsFiltered(input, row.sums.measure.cum, input.measure.whole);
  });
  return rows;
}

Table ByThreadTable(const ReportInput& input) {
  Table table;
  table.columns = {Column{"thread"}.AsPlain(),
                   {"name"},
                   {"calls", Style::kCount},
                   {"base", Style::kTime},
                   {"cum", Style::kTime},
                   {"cum2", Style::kTime},
                   {"elapsed", Style::kTime},
                   {"base_ticks", Style::kTicks},
                   {"cum_ticks", Style::kTicks},
                   {"cum2_ticks", Style::kTicks},
                   {"samples", Style::kCount},
                   {"calls_jitted", Style::kCount},
                   {"min_base", Style::kTime},
                   {"max_base", Style::kTime},
                   {"kind"}};
  AddMeasureColumns(input, MeasureColumns::kBaseCumCum2, table);
  for (const ThreadRow& it : ShownThreadRows(input)) {
    const FlatRow& row = it.sums;
    const auto at_least = row.has_bounds ? Cell::Bound::kAtLeast : Cell::Bound::kNone;
    const auto at_most = row.has_bounds ? Cell::Bound::kAtMost : Cell::Bound::kNone;
    const RoutineKind kind = input.model.TraitsOf(row.routine).kind;
    table.rows.push_back(
        {Cell::Text(input.model.thread(it.thread).name), Cell::Text(row.name), Cell::Int(row.calls),
         Cell::Int(row.base), Cell::Int(row.cum).As(at_least), Cell::Int(row.cum2).As(at_least),
         Cell::Int(row.elapsed).As(at_least), Cell::Int(row.base_ticks), Cell::Int(row.cum_ticks),
         Cell::Int(row.cum2_ticks), Cell::Int(row.samples), Cell::Int(row.calls_jitted),
         Cell::Int(row.min_base).As(at_least), Cell::Int(row.max_base).As(at_most),
         Cell::Text(row.is_root ? "thread" : RoutineKindName(kind))});
    AddMeasureCells(input, {row.measure.base, row.measure.cum, row.measure.cum2},
                    table.rows.back());
  }
  return table;
}

std::vector<ThreadRow> ProgramRowsFirst(const ReportInput& input) {
  absl::flat_hash_set<ThreadId> of_jvm;
  for (const ThreadSummary& thread : input.threads) {
    if (IsThreadOfJvm(input, thread.root)) of_jvm.insert(thread.thread);
  }
  std::vector<ThreadRow> rows = ShownThreadRows(input);
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const ThreadRow& row) { return !of_jvm.contains(row.thread); });
  return rows;
}

// By the columns of the text, which are fewer than the table's.
void SortText(const ReportInput& input, Table& table) {
  const std::string_view sort = input.options.sort;
  if (sort.empty() || SortRows(table, sort)) return;
  const bool is_self = sort.find("base") != std::string_view::npos;
  const bool is_total = sort.find("cum") != std::string_view::npos || sort == "elapsed";
  SortRows(table, is_self          ? std::string_view("self")
                  : is_total       ? std::string_view("total")
                  : sort == "name" ? std::string_view(table.columns.back().name)
                                   : std::string_view("calls"));
}

// Threads' own rows only where they have something of their own.
void ByThreadText(const ReportInput& input, std::ostream& out) {
  const Style unit = StyleOf(input.measure);
  Table table;
  table.columns = {{"self %", Style::kPlain, true},
                   {"self", unit, true},
                   {"total", unit, true},
                   {"calls", Style::kCount, true},
                   Column{"jitted %", Style::kPlain, true}.Ranked(2),
                   Column{"thread"}.AsPlain(),
                   {StrCat("routine", ByMeasure(input))}};
  for (const ThreadRow& it : ProgramRowsFirst(input)) {
    const FlatRow& row = it.sums;
    if (row.is_root && row.measure.base == 0) continue;
    table.rows.push_back({input.measure.is_more_than_calls()
                              ? Cell::Percent(PercentOf(row.measure.base, input.measure.whole))
                              : Cell::Empty(),
                          Cell::Int(row.measure.base), Cell::Int(row.measure.cum),
                          row.calls == 0 ? Cell::Empty() : Cell::Int(row.calls),
                          row.calls_jitted == 0
                              ? Cell::Empty()
                              : Cell::Percent(PercentOf(row.calls_jitted, row.calls)),
                          Cell::Text(input.model.thread(it.thread).name), Cell::Text(row.name)});
  }
  SortText(input, table);
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kByThreadReport = {
    .name = "bythread",
    .group = ReportGroup::kThreads,
    .summary = "a row for each routine of each thread: ticks, calls, times",
    .example = "jtrace-post --report=bythread --top=20 trace.bin",
    .accepts = kAcceptsOfTree,
    .if_empty = kNothingRecorded,
    .table = ByThreadTable,
    .text = ByThreadText,
};

}  // namespace jtrace::postproc
