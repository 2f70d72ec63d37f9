// The comparison of two traces as a table and as text.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
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

// Broken rules (--fail-on) first, then totals, then the routines that changed, as many as --top
// says (20 by default), and how many more there are.
void DiffMarkdown(const ProfileDiff& diff, const ReportInput& after,
                  absl::Span<const std::string> broken, std::ostream& out);

// `text` as code, whatever characters it has.
enum class Within { kText, kTable };
std::string MarkdownCode(std::string_view text, Within within);

}  // namespace jtrace::postproc
