// --fail-on: coverage of one trace, bytecodes and cycles of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/line_reports.h"
#include "native-tests/support/run_post.h"
#include "postproc/diff/fail_rule.h"
#include "postproc/diff/profile_diff.h"

namespace jtrace {
namespace {

using postproc::BrokenCoverage;
using postproc::BrokenLineCost;
using postproc::CheckCoverage;
using postproc::CheckLineCost;
using postproc::FailRule;
using postproc::LineProfile;
using postproc::ParseFailRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Line;
using testing::Method;
using testing::PrimesProfile;
using testing::RunPost;

FailRule Rule(const std::string& text) {
  const auto rule = ParseFailRule(text);
  EXPECT_TRUE(rule.ok()) << rule.status();
  return rule.ok() ? *rule : FailRule();
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// 10 of 13 lines: 76.92 %. 9 of 10 branches.
TEST(CoverageRuleTest, IsBrokenBelowTheShare) {
  const LineProfile lines = PrimesProfile();
  EXPECT_THAT(BrokenCoverage(Rule("coverage.lines<80%"), lines),
              ElementsAre("76.92 % of lines (10 of 13)"));
  EXPECT_THAT(BrokenCoverage(Rule("coverage.lines<76.93%"), lines),
              ElementsAre("76.92 % of lines (10 of 13)"));
  EXPECT_THAT(BrokenCoverage(Rule("coverage.lines<76.92%"), lines), IsEmpty());
  EXPECT_THAT(BrokenCoverage(Rule("coverage.branches<90%"), lines), IsEmpty());
  EXPECT_THAT(BrokenCoverage(Rule("coverage.branches<90.1%"), lines),
              ElementsAre("90.00 % of branches (9 of 10)"));
  EXPECT_THAT(BrokenCoverage(Rule("coverage.lines<100%@*.main"), lines), IsEmpty());
  EXPECT_THAT(BrokenCoverage(Rule("coverage.lines<1%@Primes.usage"), lines),
              ElementsAre("0.00 % of lines (0 of 2)"));
}

TEST(CoverageRuleTest, AGateThatChecksNothingDoesNotPass) {
  const LineProfile lines = PrimesProfile();
  EXPECT_EQ(Message(CheckCoverage(Rule("coverage.lines<80%"), LineProfile())),
            "--fail-on=coverage.lines<80% checks nothing: there are no counts of lines: record "
            "with blocks=on");
  EXPECT_EQ(
      Message(CheckCoverage(Rule("coverage.lines<80%@nosuch"), lines)),
      "--fail-on=coverage.lines<80%@nosuch checks nothing: nothing that matches it has lines");
  EXPECT_THAT(Message(CheckCoverage(Rule("coverage.branches<80%@Primes.usage"), lines)),
              HasSubstr("nothing that matches it has branches"));
  EXPECT_TRUE(CheckCoverage(Rule("coverage.lines<80%@Primes.usage"), lines).ok());
  const auto run =
      RunPost({"--fail-on=coverage.lines<80%", "--report=flat", "t"}, {{"t", testing::kNoCalls}});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("record with blocks=on"));
}

TEST(CoverageRuleTest, HasAForm) {
  const auto error = [](const char* text) { return Message(ParseFailRule(text).status()); };
  for (const char* text : {"coverage.lines>80%", "coverage.lines<80", "coverage.branches<101%",
                           "coverage.lines<-1%"}) {
    EXPECT_THAT(error(text), HasSubstr("coverage needs a share, as in coverage.lines<80%")) << text;
  }
  EXPECT_THAT(error("coverage.lines"), HasSubstr("no amount"));
  EXPECT_THAT(error("coverage.line<80%"), HasSubstr("nearest: coverage.lines"));
  EXPECT_THAT(error("total.coverage.lines<80%"), HasSubstr("a total needs an amount and no '@'"));
  EXPECT_THAT(error("bytecodes>1%"), HasSubstr("it is a total, as in total.bytecodes>1%"));
  EXPECT_THAT(error("total.cycles>1%@a.B"), HasSubstr("a total needs an amount and no '@'"));
  EXPECT_EQ(error("total.cycles>1%"), "");
  EXPECT_THAT(RunPost({"--fail-on=total.bytecodes>1%", "t"}, {{"t", testing::kNoCalls}}).err,
              HasSubstr("--fail-on needs --report=diff BEFORE AFTER"));
  EXPECT_THAT(
      RunPost({"--fail-on=coverage.lines<1%", "--report=dump", "t"}, {{"t", testing::kNoCalls}})
          .err,
      HasSubstr("--fail-on: dump computes no coverage"));
}

// One comparison more in the inner loop of prime: two instructions each time.
LineProfile SlowerPrimes() {
  LineProfile profile = PrimesProfile();
  postproc::MethodLines& prime = profile.methods[1];
  prime.lines[1].instructions += 2 * 5288;
  prime.instructions += 2 * 5288;
  // And two lines of comment above it.
  for (size_t i = 1; i < profile.methods.size(); ++i) {
    for (postproc::LineCounts& line : profile.methods[i].lines) line.line += 2;
  }
  return profile;
}

TEST(LineCostRuleTest, NamesTheLineThatChanged) {
  EXPECT_THAT(BrokenLineCost(Rule("total.bytecodes>1%"), PrimesProfile(), SlowerPrimes()),
              ElementsAre("all methods together: 73,014 → 83,590 (+14.5 %)",
                          "primes.Primes.prime(int):9: 22,814 → 33,390 (+46.4 %)"));
  EXPECT_THAT(BrokenLineCost(Rule("total.bytecodes>10575"), PrimesProfile(), SlowerPrimes()),
              ::testing::SizeIs(2));
  EXPECT_THAT(BrokenLineCost(Rule("total.bytecodes>10576"), PrimesProfile(), SlowerPrimes()),
              IsEmpty());
  EXPECT_THAT(BrokenLineCost(Rule("total.bytecodes<-1%"), SlowerPrimes(), PrimesProfile()),
              ElementsAre("all methods together: 83,590 → 73,014 (-12.7 %)",
                          "primes.Primes.prime(int):7: 33,390 → 22,814 (-31.7 %)"));
  // The cycles are as before.
  EXPECT_THAT(BrokenLineCost(Rule("total.cycles>0"), PrimesProfile(), SlowerPrimes()), IsEmpty());
  EXPECT_THAT(BrokenLineCost(Rule("total.bytecodes>0"), PrimesProfile(), PrimesProfile()),
              IsEmpty());
}

TEST(LineCostRuleTest, NeedsCountsInBothTraces) {
  const FailRule rule = Rule("total.cycles>1%");
  EXPECT_EQ(Message(CheckLineCost(rule, PrimesProfile(), LineProfile())),
            "--fail-on=total.cycles>1% checks nothing: in the trace after there are no counts of "
            "lines: record with blocks=on");
  EXPECT_THAT(Message(CheckLineCost(rule, LineProfile(), PrimesProfile())),
              HasSubstr("in the trace before there are no counts"));
  EXPECT_TRUE(CheckLineCost(rule, PrimesProfile(), PrimesProfile()).ok());
  const auto run = RunPost({"--report=diff", "--fail-on=total.cycles>1%", "a", "b"},
                           {{"a", testing::kNoCalls}, {"b", testing::kNoCalls}});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("checks nothing"));
}

TEST(LineCostRuleTest, ListsTheGreatestChangesFirstAndTheFirstOnly) {
  LineProfile before;
  LineProfile after;
  for (uint64_t i = 1; i <= 15; ++i) {
    const std::string name = "m" + std::to_string(i) + "()";
    before.methods.push_back(Method("a.A", name, "A.java", 1, {Line(1, {10}), Line(2, {10})}));
    after.methods.push_back(Method("a.A", name, "A.java", 1, {Line(1, {10 + i}), Line(2, {10})}));
  }
  const auto lines = BrokenLineCost(Rule("total.bytecodes>0"), before, after);
  ASSERT_EQ(lines.size(), 12);
  EXPECT_EQ(lines[1], "a.A.m15():1: 10 → 25 (+150.0 %)");
  EXPECT_EQ(lines[10], "a.A.m6():1: 10 → 16 (+60.0 %)");
  EXPECT_EQ(lines[11], "… and 5 more");
}

std::vector<std::string> Changes(const LineProfile& before, const LineProfile& after) {
  std::vector<std::string> all;
  for (const auto& change : ChangedLines(before, after, postproc::LineCost::kInstructions)) {
    all.push_back(change.name + " " + std::to_string(change.before) + " " +
                  std::to_string(change.after));
  }
  return all;
}

LineProfile One(std::vector<postproc::LineCounts> lines) {
  LineProfile profile;
  profile.methods = {Method("A", "m()", "A.java", 1, std::move(lines))};
  return profile;
}

TEST(LineDiffTest, LinesThatMovedAreTheSame) {
  const LineProfile before = One({Line(5, {1}), Line(6, {70}), Line(8, {3}), Line(9, {1})});
  EXPECT_THAT(Changes(before, One({Line(15, {1}), Line(16, {70}), Line(18, {3}), Line(19, {1})})),
              IsEmpty());
  // A line more.
  EXPECT_THAT(Changes(before, One({Line(5, {1}), Line(6, {70}), Line(7, {70}), Line(9, {3}),
                                   Line(10, {1})})),
              ElementsAre("A.m():7 0 70"));
  // A line less.
  EXPECT_THAT(Changes(before, One({Line(5, {1}), Line(7, {3}), Line(8, {1})})),
              ElementsAre("A.m():6 70 0"));
  // Another loop.
  EXPECT_THAT(Changes(before, One({Line(5, {1}), Line(6, {90}), Line(8, {4}), Line(9, {1})})),
              ElementsAre("A.m():6 70 90", "A.m():8 3 4"));
}

TEST(LineDiffTest, TheComparisonOfTracesHasTheTotals) {
  const std::string text = testing::LineDiffText(PrimesProfile(), SlowerPrimes());
  EXPECT_THAT(text, HasSubstr("bytecodes              73,014 → 83,590           +14.5 %\n"));
  EXPECT_THAT(text, HasSubstr("cycles                146,028 → 146,028          =\n"));
  EXPECT_THAT(testing::LineDiffText(LineProfile(), LineProfile()),
              ::testing::Not(HasSubstr("bytecodes")));
}

TEST(LineDiffTest, MethodsAppearAndVanish) {
  LineProfile bare;
  bare.methods = {Method("A", "bare()", "", 1, {})};
  bare.methods[0].instructions = 12;
  EXPECT_THAT(Changes(One({Line(5, {7})}), bare), ElementsAre("A.bare() 0 12", "A.m():5 7 0"));
  EXPECT_THAT(Changes(bare, One({Line(5, {7})})), ElementsAre("A.bare() 12 0", "A.m():5 0 7"));
}

}  // namespace
}  // namespace jtrace
