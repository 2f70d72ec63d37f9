// Whether the output can be what --sort and -o request.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "postproc/input/command_line.h"
#include "postproc/report/table.h"

namespace jtrace::postproc {

// Whether the arc flow or the tree, which sort themselves, can have that order.
absl::Status CheckSort(const CommandLine& line);
// Whether a report's table has the column `sort`.
absl::Status CheckColumn(std::string_view sort, std::string_view report, const Table& table,
                         const Measure& measure);
// Whether the reports can honour --outside=caller.
absl::Status CheckOutside(const CommandLine& line);
// Whether the output is none of the traces: opening it truncates it.
absl::Status CheckOutput(const CommandLine& line);

}  // namespace jtrace::postproc
