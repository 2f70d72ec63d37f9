// The comparison of two traces as a table and as text.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "postproc/diff/profile_diff.h"
#include "postproc/report/table.h"

namespace jtrace::postproc {

// A total of both traces, as text with its unit.
struct TotalLine {
  std::string what;  // "calls", "ticks", …
  std::string before;
  std::string after;
  std::string growth;
};
// The totals that are not 0 in both.
std::vector<TotalLine> TotalLines(const ProfileDiff& diff, const ReportInput& after);
// "+10.0 %", "=", "new"
std::string Growth(const Change& change);
// "1 appeared, 0 vanished, 2 changed, 40 the same"
std::string DescribeStates(const ProfileDiff& diff);

// A row for each routine, including those that did not change.
Table DiffTable(const ProfileDiff& diff, const ReportOptions& options);
// Totals, then changes: values before and after, `*` after significant ticks.
void DiffText(const ProfileDiff& diff, const ReportInput& after, std::ostream& out);

}  // namespace jtrace::postproc
