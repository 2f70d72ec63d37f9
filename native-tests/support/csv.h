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

  // The rows with only these columns, in this order; a missing column shows as "<none>".
  std::vector<CsvRow> Project(const CsvRow& columns) const;
};

Csv ParseCsv(std::string_view text);

}  // namespace jtrace::testing
