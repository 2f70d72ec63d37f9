#include "postproc/diff/fail_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/glob.h"
#include "common/nearest.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/lines/coverage.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::pair<std::string_view, FailRule::What> kWords[] = {
    {"calls", FailRule::What::kCalls},
    {"time", FailRule::What::kTime},
    {"ticks", FailRule::What::kTicks},
    {"metric", FailRule::What::kMetric},
    {"appeared", FailRule::What::kAppeared},
    {"vanished", FailRule::What::kVanished},
    {"bytecodes", FailRule::What::kBytecodes},
    {"cycles", FailRule::What::kCycles},
    {"coverage.lines", FailRule::What::kLineCoverage},
    {"coverage.branches", FailRule::What::kBranchCoverage},
};

bool HasAmount(FailRule::What what) {
  return what != FailRule::What::kAppeared && what != FailRule::What::kVanished;
}

absl::Status Wrong(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      StrCat("--fail-on: '", text, "': ", why, "; e.g. calls>5%@org.h2.**, ticks>10%, appeared"));
}

absl::Status ParseAmount(std::string_view word, FailRule& rule) {
  rule.is_percent = ConsumeSuffix(word, "%");
  if (word.starts_with('+')) word.remove_prefix(1);
  if (!ParseDouble(word, rule.amount) || !std::isfinite(rule.amount)) {
    return Wrong(rule.text, "the amount is not a number");
  }
  return absl::OkStatus();
}

absl::Status ParseWhat(std::string_view word, FailRule& rule) {
  rule.of_total = ConsumePrefix(word, "total.");
  std::vector<std::string_view> known;
  for (const auto& [name, what] : kWords) {
    known.push_back(name);
    if (name != word) continue;
    rule.what = what;
    return absl::OkStatus();
  }
  return Wrong(rule.text, StrCat("'", word, "' is unknown, nearest: ", Nearest(word, known)));
}

const Change& ChangeOf(const FailRule& rule, const DiffRow& row) {
  switch (rule.what) {
    case FailRule::What::kTime:
      return row.base;
    case FailRule::What::kTicks:
      return row.base_ticks;
    case FailRule::What::kMetric:
      return row.metric;
    default:
      return row.calls;
  }
}

// A glob may omit the parameters, and write "::" before the method.
bool Concerns(const FailRule& rule, std::string_view name) {
  return rule.glob.empty() || GlobMatches(rule.glob, name) ||
         GlobMatches(rule.glob, WithoutParameters(name)) || RoutineMatches(rule.glob, name);
}

bool Breaks(const FailRule& rule, const DiffRow& row) {
  if (rule.what == FailRule::What::kAppeared) return row.state == DiffState::kAppeared;
  if (rule.what == FailRule::What::kVanished) return row.state == DiffState::kVanished;
  if (rule.what == FailRule::What::kTicks && !row.is_significant()) return false;
  return IsBeyond(rule, ChangeOf(rule, row));
}

std::string Describe(const FailRule& rule, const DiffRow& row) {
  std::string name = rule.of_total ? "all routines together" : row.name;
  if (!HasAmount(rule.what)) return name;
  return DescribeChange(name, ChangeOf(rule, row));
}

// Whether the parts of a rule fit its subject.
absl::Status CheckForm(const FailRule& rule, bool has_sign) {
  const bool is_coverage =
      rule.what == FailRule::What::kLineCoverage || rule.what == FailRule::What::kBranchCoverage;
  const bool is_cost =
      rule.what == FailRule::What::kBytecodes || rule.what == FailRule::What::kCycles;
  if (rule.of_total && (!rule.glob.empty() || is_coverage || !HasAmount(rule.what))) {
    return Wrong(rule.text, "a total needs an amount and no '@'");
  }
  if (is_cost && !rule.of_total) {
    return Wrong(rule.text, "it is a total, as in total.bytecodes>1%");
  }
  if (HasAmount(rule.what) == has_sign) return absl::OkStatus();
  return Wrong(rule.text, HasAmount(rule.what) ? "no amount, as in calls>0" : "takes no amount");
}

// Of coverage there can only be too little.
absl::Status CheckShare(const FailRule& rule) {
  if (!rule.above && rule.is_percent && rule.amount >= 0 && rule.amount <= 100) {
    return absl::OkStatus();
  }
  return Wrong(rule.text, "coverage needs a share, as in coverage.lines<80%");
}

}  // namespace

bool IsBeyond(const FailRule& rule, const Change& change) {
  const double grown = rule.is_percent ? change.percent() : static_cast<double>(change.delta());
  return rule.above ? grown > rule.amount : grown < rule.amount;
}

std::string DescribeChange(std::string_view name, const Change& change) {
  std::string line =
      StrCat(name, ": ", FormatCount(change.before), " → ", FormatCount(change.after));
  if (change.before != 0) line += absl::StrFormat(" (%+.1f %%)", change.percent());
  return line;
}

absl::StatusOr<FailRule> ParseFailRule(std::string_view text) {
  FailRule rule;
  rule.text = text;
  const size_t at = text.find('@');
  if (at != std::string_view::npos) {
    rule.glob = text.substr(at + 1);
    text = text.substr(0, at);
    if (rule.glob.empty()) return Wrong(rule.text, "no routine after '@'");
  }
  const size_t sign = text.find_first_of("<>");
  if (absl::Status status = ParseWhat(text.substr(0, sign), rule); !status.ok()) return status;
  const bool has_sign = sign != std::string_view::npos;
  if (absl::Status status = CheckForm(rule, has_sign); !status.ok()) return status;
  if (!has_sign) return rule;
  rule.above = text[sign] == '>';
  if (absl::Status status = ParseAmount(text.substr(sign + 1), rule); !status.ok()) return status;
  if (!rule.text.starts_with("coverage.")) return rule;
  if (absl::Status status = CheckShare(rule); !status.ok()) return status;
  return rule;
}

absl::Status CheckRule(const FailRule& rule, const ProfileDiff& diff) {
  const auto refuse = [&](std::string_view why) {
    return UsageError(
        absl::FailedPreconditionError(StrCat("--fail-on=", rule.text, " checks nothing: ", why)));
  };
  const bool fits = std::any_of(diff.rows.begin(), diff.rows.end(),
                                [&](const DiffRow& row) { return Concerns(rule, row.name); });
  if (!fits) {
    return refuse(rule.glob.empty() ? "no routine in the traces" : "no routine matches it");
  }
  if (!HasAmount(rule.what)) return absl::OkStatus();
  const Change& all = ChangeOf(rule, diff.total);
  if (all.before != 0 && all.after != 0) return absl::OkStatus();
  return refuse(StrCat("the trace ", all.before == 0 ? "before" : "after", " has none"));
}

std::vector<std::string> Broken(const FailRule& rule, const ProfileDiff& diff) {
  std::vector<std::string> lines;
  if (rule.of_total) {
    if (Breaks(rule, diff.total)) lines.push_back(Describe(rule, diff.total));
    return lines;
  }
  size_t more = 0;
  for (const DiffRow& row : diff.rows) {
    if (!Concerns(rule, row.name)) continue;
    if (!Breaks(rule, row)) continue;
    if (lines.size() < kMostListed) {
      lines.push_back(Describe(rule, row));
    } else {
      ++more;
    }
  }
  if (more > 0) lines.push_back(StrCat("… and ", more, " more"));
  return lines;
}

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
