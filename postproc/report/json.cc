#include "postproc/report/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace jtrace::postproc {
namespace {

using nlohmann::json;

std::string JsonCell(const Cell& cell) {
  switch (cell.kind()) {
    case Cell::Kind::kEmpty:
      return "null";
    case Cell::Kind::kInt:
      return std::to_string(cell.integer());
    case Cell::Kind::kPercent:
      return json(cell.percent()).dump();
    case Cell::Kind::kText:
      return JsonString(cell.text());
  }
  return "null";
}

}  // namespace

std::string JsonString(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Utf8(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  return json::parse(JsonString(text)).get<std::string>();
}

// Row by row: a report may be larger than what one would like to keep as objects.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out) {
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(JsonString(column.name) + ":");
  out << "{\"report\":" << JsonString(report)
      << ",\"time_unit\":" << JsonString(TimeUnitName(units.time))
      << ",\"tick_ns\":" << units.interval_ns << ",\"rows\":[";
  const char* separator = "\n{";
  for (const std::vector<Cell>& row : table.rows) {
    out << separator;
    separator = ",\n{";
    for (size_t i = 0; i < row.size(); ++i)
      out << (i == 0 ? "" : ",") << keys[i] << JsonCell(row[i]);
    out << '}';
  }
  out << "]}\n";
}

}  // namespace jtrace::postproc
