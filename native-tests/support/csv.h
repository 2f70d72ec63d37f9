// A small reader of CSV (RFC 4180) for comparing reports.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::testing {

using CsvRow = std::vector<std::string>;

struct Csv {
  CsvRow header;
  std::vector<CsvRow> rows;

  // The rows with these columns alone, in this order; a column that is missing shows as "<none>".
  std::vector<CsvRow> Project(const CsvRow& columns) const;
};

Csv ParseCsv(std::string_view text);

}  // namespace jtrace::testing
