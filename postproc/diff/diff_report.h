// The comparison of two traces as a table and as text.
#pragma once

#include <ostream>

#include "postproc/diff/profile_diff.h"
#include "postproc/report/table.h"

namespace jtrace::postproc {

// A row for each routine, including those that did not change.
Table DiffTable(const ProfileDiff& diff, const ReportOptions& options);
// Totals, then changes: values before and after, `*` after significant ticks.
void DiffText(const ProfileDiff& diff, const ReportInput& after, std::ostream& out);

}  // namespace jtrace::postproc
