// --fail-on=RULE: when a comparison of two traces counts as failed, for use in CI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/diff/profile_diff.h"

namespace jtrace::postproc {

// RULE is WHAT[>AMOUNT|<AMOUNT][@GLOB], for any routine whose name fits the glob:
//   calls>0                 a routine is called more often
//   calls>5%@org.h2.**      … by more than 5 %, in that package
//   total.calls>1%          all calls together
//   ticks>10%               self samples, where the difference is significant
//   time<-10%               self time (clock=) shrank by more than 10 %
//   metric>0                what --metric names
//   appeared@com.acme.**    a routine that was not there before; vanished: the reverse
struct FailRule {
  enum class What { kCalls, kTime, kTicks, kMetric, kAppeared, kVanished };
  std::string text;  // as given
  What what = What::kCalls;
  bool of_total = false;
  bool above = true;  // '>'
  double amount = 0;
  bool is_percent = false;
  std::string glob;  // empty: every routine
};

// An error says what a rule looks like.
absl::StatusOr<FailRule> ParseFailRule(std::string_view text);

// An error if the rule cannot be checked, since a gate that checks nothing must not pass: one of
// the traces has nothing of what the rule is about, or no routine fits its glob.
absl::Status CheckRule(const FailRule& rule, const ProfileDiff& diff);

// What broke the rule, a line each, the first few of them; empty: it holds.
std::vector<std::string> Broken(const FailRule& rule, const ProfileDiff& diff);

}  // namespace jtrace::postproc
