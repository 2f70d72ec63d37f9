// Counts of lines in tables and text.
#pragma once

#include <cstdint>
#include <string>

#include "postproc/lines/line_profile.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/report.h"
#include "postproc/report/table.h"

namespace jtrace::postproc {

// As reports' integers; the greatest of these if it exceeds them.
int64_t ToInteger(uint64_t count);
Cell CountCell(uint64_t count);

// The methods that --of selects.
Methods SelectedMethods(const ReportInput& input);

// "12 of 40 lines ran (30.0 %)", "no lines"; `what`: "lines".
std::string CoveredText(const Covered& covered, std::string_view what);
// "3/4" of a line with branches, else "".
std::string BranchesText(const LineCounts& line);

// "120 of the methods are of 14 classes that were never loaded", a line; "" without such.
std::string NeverLoadedText(const Methods& methods);

// What the counts lack, a line each: methods without line numbers, methods that were not counted.
// "" if they lack nothing.
std::string MissingText(const ReportInput& input, const Methods& methods);

}  // namespace jtrace::postproc
