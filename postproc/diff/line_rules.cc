#include "postproc/diff/line_rules.h"

#include "absl/strings/str_format.h"
#include "postproc/diff/line_diff.h"
#include "postproc/lines/coverage.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using What = FailRule::What;

std::string_view CoverageWord(const FailRule& rule) {
  return rule.what == What::kLineCoverage ? "lines" : "branches";
}

Covered CoverageOf(const FailRule& rule, const LineProfile& lines) {
  const CoverageBy by =
      rule.what == What::kLineCoverage ? CoverageBy::kLines : CoverageBy::kBranches;
  return CoverageOfAll(SelectMethods(lines, rule.glob), by).counted;
}

LineCost CostOfRule(const FailRule& rule) {
  return rule.what == What::kCycles ? LineCost::kCycles : LineCost::kInstructions;
}

Change TotalChange(const FailRule& rule, const LineProfile& before, const LineProfile& after) {
  return {ToInteger(TotalCost(before, CostOfRule(rule))),
          ToInteger(TotalCost(after, CostOfRule(rule)))};
}

absl::Status ChecksNothing(const FailRule& rule, std::string_view why) {
  return UsageError(
      absl::FailedPreconditionError(StrCat("--fail-on=", rule.text, " checks nothing: ", why)));
}

}  // namespace

bool IsCoverageRule(const FailRule& rule) {
  return rule.what == What::kLineCoverage || rule.what == What::kBranchCoverage;
}

bool IsLineCostRule(const FailRule& rule) {
  return rule.what == What::kBytecodes || rule.what == What::kCycles;
}

absl::Status CheckCoverage(const FailRule& rule, const LineProfile& lines) {
  if (lines.empty()) return ChecksNothing(rule, kNoLines);
  if (CoverageOf(rule, lines).total > 0) return absl::OkStatus();
  return ChecksNothing(
      rule, StrCat(rule.glob.empty() ? "the trace has no " : "nothing that matches it has ",
                   CoverageWord(rule)));
}

std::vector<std::string> BrokenCoverage(const FailRule& rule, const LineProfile& lines) {
  const Covered covered = CoverageOf(rule, lines);
  // Exact: a share that is less is never shown as one that is enough.
  if (!(covered.percent() < rule.amount)) return {};
  return {absl::StrFormat("%.2f %% of %s (%s of %s)", covered.percent(), CoverageWord(rule),
                          FormatCount(covered.covered), FormatCount(covered.total))};
}

absl::Status CheckLineCost(const FailRule& rule, const LineProfile& before,
                           const LineProfile& after) {
  for (const LineProfile* side : {&before, &after}) {
    if (TotalCost(*side, CostOfRule(rule)) > 0) continue;
    return ChecksNothing(
        rule, StrCat("in the trace ", side == &before ? "before" : "after", " ", kNoLines));
  }
  return absl::OkStatus();
}

std::vector<std::string> BrokenLineCost(const FailRule& rule, const LineProfile& before,
                                        const LineProfile& after) {
  const Change total = TotalChange(rule, before, after);
  if (!IsBeyond(rule, total)) return {};
  std::vector<std::string> lines = {DescribeChange("all methods together", total)};
  const std::vector<LineChange> changes = ChangedLines(before, after, CostOfRule(rule));
  for (const LineChange& change : changes) {
    if (lines.size() > kMostListed) {
      lines.push_back(StrCat("… and ", changes.size() - kMostListed, " more"));
      break;
    }
    lines.push_back(
        DescribeChange(change.name, {ToInteger(change.before), ToInteger(change.after)}));
  }
  return lines;
}

}  // namespace jtrace::postproc
