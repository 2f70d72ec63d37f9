// Files and peers that were read and written (codes=+io).
#include <algorithm>
#include <utility>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {
namespace {

Table IoTable(const ReportInput& input) {
  using Row = std::pair<IoLog::Name, const IoLog::Total*>;
  std::vector<Row> rows;
  for (const auto& [name, total] : input.io.totals()) rows.emplace_back(name, &total);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second->time > b.second->time; });
  Table table;
  table.columns = {{"kind"},
                   {"calls", Style::kCount},
                   {"failed", Style::kCount},
                   {"bytes", Style::kBytes},
                   {"time", Style::kTime},
                   {"longest", Style::kTime},
                   {"threads", Style::kCount},
                   {"on"}};
  for (const auto& [name, total] : rows) {
    table.rows.push_back(
        {Cell::Text(name.first), Cell::Int(total->calls), Cell::Int(total->failed),
         Cell::Int(total->bytes), Cell::Int(total->time), Cell::Int(total->longest),
         Cell::Int(static_cast<int64_t>(total->threads.size())), Cell::Text(name.second)});
  }
  return table;
}

}  // namespace

extern const Report kIoReport = {
    .name = "io",
    .group = ReportGroup::kEvents,
    .summary = "files and peers that were read and written (codes=+io)",
    .example = "jtrace-post --report=io --top=20 trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "its rows are files and peers; --report=tree has java.read.bytes by call path"}},
    .if_empty = "no reads and writes; codes=+io records them",
    .table = IoTable,
};

}  // namespace jtrace::postproc
