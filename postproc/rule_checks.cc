#include "postproc/rule_checks.h"

#include <algorithm>
#include <string_view>

#include "postproc/diff/fail_rule.h"
#include "postproc/diff/line_rules.h"
#include "postproc/model/import_stats.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using Lines = std::vector<std::string>;

// Whether calls and samples of the program are missing if that problem occurred.
bool LosesRecords(Problem problem) {
  return problem == Problem::kDamagedFrame || problem == Problem::kDamagedChunk ||
         problem == Problem::kOversizedChunk || problem == Problem::kDamagedLog ||
         problem == Problem::kMissingChunk;
}

absl::Status CheckWhole(Analysis& analysis, std::string_view trace,
                        std::string_view would_look_like) {
  for (const Problem problem : analysis.stats().Occurred()) {
    if (!LosesRecords(problem)) continue;
    return absl::FailedPreconditionError(StrCat(trace, " is damaged (", InfoOf(problem).what,
                                                "): missing parts would look like ",
                                                would_look_like, " (--fail-on)"));
  }
  for (const TraceInfo& info : analysis.model().traces()) {
    if (!info.cut_off && !info.running) continue;
    return absl::FailedPreconditionError(StrCat(
        info.file, " has no end: missing parts would look like ", would_look_like, " (--fail-on)"));
  }
  return absl::OkStatus();
}

void AddBroken(const FailRule& rule, const Lines& broken, Lines& lines) {
  for (const std::string& line : broken) {
    lines.push_back(StrCat("--fail-on=", rule.text, ": ", line));
  }
}

absl::Status AddBrokenCoverage(const CommandLine& line, Analysis& analysis, Lines& lines) {
  for (const FailRule& rule : line.fail_rules) {
    if (!IsCoverageRule(rule)) continue;
    const LineProfile& counted = analysis.lines();
    if (absl::Status status = CheckCoverage(rule, counted); !status.ok()) return status;
    AddBroken(rule, BrokenCoverage(rule, counted), lines);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Lines> BrokenRules(const CommandLine& line, Analysis& analysis) {
  Lines lines;
  if (line.fail_rules.empty()) return lines;
  absl::Status status = CheckWhole(analysis, line.traces.front(), "code that never ran");
  if (status.ok()) status = AddBrokenCoverage(line, analysis, lines);
  if (!status.ok()) return status;
  return lines;
}

absl::StatusOr<Lines> BrokenRules(const CommandLine& line, Analysis& before, Analysis& after,
                                  const ProfileDiff& diff) {
  Lines lines;
  if (line.fail_rules.empty()) return lines;
  for (Analysis* side : {&before, &after}) {
    const std::string& trace = line.traces[side == &before ? 0 : 1];
    if (absl::Status status = CheckWhole(*side, trace, "a change"); !status.ok()) return status;
  }
  const LineProfile& lines_before = before.lines();
  const LineProfile& lines_after = after.lines();
  for (const FailRule& rule : line.fail_rules) {
    if (IsCoverageRule(rule)) continue;
    const bool is_cost = IsLineCostRule(rule);
    const absl::Status status =
        is_cost ? CheckLineCost(rule, lines_before, lines_after) : CheckRule(rule, diff);
    if (!status.ok()) return status;
    AddBroken(rule, is_cost ? BrokenLineCost(rule, lines_before, lines_after) : Broken(rule, diff),
              lines);
  }
  if (absl::Status status = AddBrokenCoverage(line, after, lines); !status.ok()) return status;
  return lines;
}

}  // namespace jtrace::postproc
