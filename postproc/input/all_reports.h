// The table of reports: their names, functions and examples.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

absl::Span<const Report> AllReports();
// Null: no report has that name.
const Report* FindReport(std::string_view name);

}  // namespace jtrace::postproc
