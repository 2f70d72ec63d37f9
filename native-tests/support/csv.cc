#include "native-tests/support/csv.h"

#include <algorithm>
#include <utility>

namespace jtrace::testing {

Csv ParseCsv(std::string_view text) {
  std::vector<CsvRow> rows;
  CsvRow row;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        field.push_back(c);
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field.push_back('"');
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      row.push_back(std::exchange(field, {}));
      if (c == '\n') rows.push_back(std::exchange(row, {}));
    } else {
      field.push_back(c);
    }
  }
  Csv csv;
  if (rows.empty()) return csv;
  csv.header = std::move(rows.front());
  csv.rows.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
  return csv;
}

std::vector<CsvRow> Csv::Project(const CsvRow& columns) const {
  std::vector<CsvRow> projected;
  for (const CsvRow& row : rows) {
    CsvRow& cells = projected.emplace_back();
    for (const std::string& column : columns) {
      const auto at = std::find(header.begin(), header.end(), column) - header.begin();
      cells.push_back(static_cast<size_t>(at) < row.size() ? row[static_cast<size_t>(at)]
                                                           : std::string("<none>"));
    }
  }
  return projected;
}

}  // namespace jtrace::testing
