// The comparison of two traces as a table and as text.
#pragma once

#include <ostream>

#include "postproc/diff/profile_diff.h"
#include "postproc/report/table.h"

namespace jtrace::postproc {

// A row a routine, those that did not change too.
Table DiffTable(const ProfileDiff& diff, const ReportOptions& options);
// Totals, then what changed: values before and after, `*` behind significant ticks.
void DiffText(const ProfileDiff& diff, const ReportInput& after, std::ostream& out);

}  // namespace jtrace::postproc
