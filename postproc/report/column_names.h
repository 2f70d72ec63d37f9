// Columns by the names that text gives them: --sort takes both.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The table's own name of a column: "base_ticks" of "self", if the measure is ticks. `name` itself
// if the table has it; empty: there is no such column.
std::string ColumnNamed(std::string_view name, const Table& table, const Measure& measure);

// Whether the table of `report` has the column that --sort names.
absl::Status CheckColumn(std::string_view sort, std::string_view report, const Table& table,
                         const Measure& measure);

// Sorts the rows by the column that --sort names, if any; SortRows.
void SortAsWanted(const ReportInput& input, Table& table);

}  // namespace jtrace::postproc
