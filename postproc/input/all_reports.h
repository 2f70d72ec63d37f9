// The list of reports.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// In the order of --help.
absl::Span<const Report* const> AllReports();
// Null: no report has that name.
const Report* FindReport(std::string_view name);

}  // namespace jtrace::postproc
