// Rules of --fail-on about counts of lines: coverage of one trace, bytecodes and cycles of two.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "postproc/diff/fail_rule.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// coverage.lines, coverage.branches: of the only trace, or of the second one.
bool IsCoverageRule(const FailRule& rule);
// total.bytecodes, total.cycles
bool IsLineCostRule(const FailRule& rule);

// As CheckRule and Broken.
absl::Status CheckCoverage(const FailRule& rule, const LineProfile& lines);
std::vector<std::string> BrokenCoverage(const FailRule& rule, const LineProfile& lines);

absl::Status CheckLineCost(const FailRule& rule, const LineProfile& before,
                           const LineProfile& after);
// The total, then the lines that changed most.
std::vector<std::string> BrokenLineCost(const FailRule& rule, const LineProfile& before,
                                        const LineProfile& after);

}  // namespace jtrace::postproc
