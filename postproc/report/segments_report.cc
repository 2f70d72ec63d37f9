// Segments of code that the program named: how often, and how long they took (S3.28).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "postproc/report/column_names.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {
namespace {

using SegmentRow = std::pair<std::string, SegmentLog::Total>;

Table SegmentsTable(const ReportInput& input) {
  const auto totals = input.segments.Totals();
  std::vector<SegmentRow> rows(totals.begin(), totals.end());
  std::stable_sort(rows.begin(), rows.end(), [](const SegmentRow& a, const SegmentRow& b) {
    return a.second.time > b.second.time;
  });
  Table table;
  table.columns = {{"name"},
                   {"count", Style::kCount},
                   {"total_ns", Style::kNanoseconds},
                   {"min_ns", Style::kNanoseconds},
                   {"max_ns", Style::kNanoseconds},
                   {"open", Style::kCount, true}};
  const auto per_unit = static_cast<uint64_t>(NanosecondsPer(input.model.unit()));
  for (const auto& [name, total] : rows) {
    // Ticks have no length, and what has not ended has no time.
    const auto time = [&, count = total.count](int64_t value) {
      if (per_unit == 0 || count == 0) return Cell::Empty();
      return Cell::Int(static_cast<int64_t>(static_cast<uint64_t>(value) * per_unit));
    };
    table.rows.push_back({Cell::Text(name), Cell::Int(total.count), time(total.time),
                          time(total.min), time(total.max), Cell::Int(total.open)});
  }
  return table;
}

void SegmentsText(const ReportInput& input, std::ostream& out) {
  Table table = SegmentsTable(input);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  table.MoveLast("name");
  for (Column& column : table.columns) {
    if (column.name.ends_with("_ns")) column.name.resize(column.name.size() - 3);
  }
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kSegmentsReport = {
    .name = "segments",
    .group = ReportGroup::kEvents,
    .summary = "segments of code that the program named: how often, how long (JTrace.segment)",
    .example = "jtrace-post --report=segments --top=20 trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "it is about segments of code; --report=flat has metrics by routine"}},
    .if_empty = "no segments; the program names them: JTrace.segment of jtrace-api.jar",
    .table = SegmentsTable,
    .text = SegmentsText,
};

}  // namespace jtrace::postproc
