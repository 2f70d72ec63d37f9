// --fail-on=RULE: when a comparison of two traces counts as failed, for use in CI.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// RULE is WHAT[>AMOUNT|<AMOUNT][@GLOB], for any routine whose name matches the glob:
//   calls>0                 a routine is called more often
//   calls>5%@org.h2.**      … by more than 5 %, in that package
//   total.calls>1%          all calls together
//   ticks>10%               self samples, where the difference is significant
//   time<-10%               self time (clock=) shrank by more than 10 %
//   metric>0                what --metric names
//   appeared@com.acme.**    a routine that was not there before; vanished: the reverse
// And of counts of lines (line_rules.h), where a glob is for classes or methods:
//   coverage.lines<80%      less of the lines ran, or coverage.branches of the branches; one trace
//   total.bytecodes>1%      all bytecode instructions; total.cycles: their cost
struct FailRule {
  enum class What {
    kCalls,
    kTime,
    kTicks,
    kMetric,
    kAppeared,
    kVanished,
    kBytecodes,
    kCycles,
    kLineCoverage,
    kBranchCoverage
  };
  std::string text;  // as given
  What what = What::kCalls;
  bool of_total = false;
  bool above = true;  // '>'
  double amount = 0;
  bool is_percent = false;
  std::string glob;  // empty: every routine
};

// An error describes the form of a rule.
absl::StatusOr<FailRule> ParseFailRule(std::string_view text);

// An error if the rule cannot be checked, because a gate that checks nothing must not pass: one of
// the traces lacks what the rule is about, or no routine matches its glob.
absl::Status CheckRule(const FailRule& rule, const ProfileDiff& diff);

// How many violations of a rule are listed.
inline constexpr size_t kMostListed = 10;
// Whether a number changed by more than the rule allows.
bool IsBeyond(const FailRule& rule, const Change& change);
// "a.B.run(): 1,000 → 1,100 (+10.0 %)"
std::string DescribeChange(std::string_view name, const Change& change);

// The first few violations of the rule, a line each; empty: it holds.
std::vector<std::string> Broken(const FailRule& rule, const ProfileDiff& diff);

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
