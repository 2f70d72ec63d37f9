#include "postproc/report/json.h"

#include <vector>

#include "common/json_writer.h"

namespace jtrace::postproc {
namespace {

std::string JsonCell(const Cell& cell) {
  switch (cell.kind()) {
    case Cell::Kind::kEmpty:
      return "null";
    case Cell::Kind::kInt:
      return std::to_string(cell.integer());
    case Cell::Kind::kPercent:
      return JsonNumber(cell.percent());
    case Cell::Kind::kText:
      return JsonString(cell.text());
  }
  return "null";
}

}  // namespace

// Row by row: a report may be too large to keep as objects.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out) {
  const std::vector<size_t> shown = table.DataColumns();
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(JsonString(column.name) + ":");
  out << "{\"report\":" << JsonString(report)
      << ",\"time_unit\":" << JsonString(TimeUnitName(units.time))
      << ",\"tick_ns\":" << units.interval_ns << ",\"rows\":[";
  const char* separator = "\n{";
  table.ForEachRow([&](const std::vector<Cell>& row) {
    out << separator;
    separator = ",\n{";
    for (const size_t i : shown) {
      out << (i == shown.front() ? "" : ",") << keys[i] << JsonCell(row[i]);
    }
    out << '}';
    return static_cast<bool>(out);
  });
  out << "]}\n";
}

}  // namespace jtrace::postproc
