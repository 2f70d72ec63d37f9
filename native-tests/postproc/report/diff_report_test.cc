// diff: two traces compared, and --fail-on for CI.
#include "postproc/diff/diff_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/diff/fail_rule.h"

namespace jtrace {
namespace {

using postproc::MarkdownCode;
using postproc::ParseFailRule;
using postproc::Within;
using testing::Csv;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ParseCsv;
using testing::RunPost;
using testing::RunResult;
using ::testing::StartsWith;

std::string Node(const std::string& counts, const std::string& path) {
  return "0\tmain\tnode\t" + counts + "\t" + path + "\n";
}
std::string Samples(int count, int weight, const std::string& path) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "0\tmain\tsample*" + std::to_string(weight) + "\t" + path + "\n";
  }
  return text;
}

const std::string kHead = "# jtrace-text 1 unit=us\n";
const std::string kBefore = kHead + Node("calls=10,bytes=100", "a.A.run()") +
                            Node("calls=1000", "a.A.run()\ta.B.go(int)") +
                            Node("calls=7", "a.A.run()\ta.C.old()") +
                            Samples(100, 1, "a.A.run()\ta.B.go(int)") + Samples(50, 1, "a.A.run()");
const std::string kAfter = kHead + Node("calls=10,bytes=150", "a.A.run()") +
                           Node("calls=1100", "a.A.run()\ta.B.go(int)") +
                           Node("calls=3", "a.A.run()\ta.D.fresh()") +
                           Samples(200, 1, "a.A.run()\ta.B.go(int)") + Samples(55, 1, "a.A.run()");

RunResult Diff(std::vector<std::string> options, const std::string& before = kBefore,
               const std::string& after = kAfter) {
  options.insert(options.begin(), "--report=diff");
  options.insert(options.end(), {"before", "after"});
  return RunPost(options, {{"before", before}, {"after", after}});
}

TEST(DiffReportTest, ReportsExactCallsAndSignificantTicks) {
  const RunResult run = Diff({"--format=csv"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto rows = ParseCsv(run.out).Project(
      {"state", "calls_before", "calls_after", "calls_delta", "base_ticks_before",
       "base_ticks_after", "deviations", "significant", "name"});
  // (200 − 100) / √300, (55 − 50) / √105
  EXPECT_THAT(
      rows, ElementsAre(
                CsvRow{"changed", "1000", "1100", "100", "100", "200", "5.77", "1", "a.B.go(int)"},
                CsvRow{"vanished", "7", "0", "-7", "0", "0", "0.00", "0", "a.C.old()"},
                CsvRow{"appeared", "0", "3", "3", "0", "0", "0.00", "0", "a.D.fresh()"},
                CsvRow{"same", "10", "10", "0", "50", "55", "0.49", "0", "a.A.run()"}));
}

TEST(DiffReportTest, CommentsHaveTotalsAndChanges) {
  const RunResult run =
      RunPost({"--report=markdown", "before", "after"}, {{"before", kBefore}, {"after", kAfter}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out,
            "| total | before | after | change |\n|---|--:|--:|--:|\n"
            "| calls | 1,017 | 1,113 | +9.4 % |\n| ticks | 150 | 255 | +70.0 % |\n"
            "\nMethods: 1 appeared, 1 vanished, 1 changed, 1 the same.\n"
            "\n| | method | of | before | after | change |\n|---|---|---|--:|--:|--:|\n"
            "| changed | `a.B.go(int)` | calls | 1,000 | 1,100 | +10.0 % |\n"
            "| changed | `a.B.go(int)` | ticks | 100 | 200 | +100.0 % |\n"
            "| vanished | `a.C.old()` | calls | 7 | 0 | -100.0 % |\n"
            "| appeared | `a.D.fresh()` | calls | 0 | 3 | new |\n");
}

TEST(DiffReportTest, CommentsBeginWithBrokenRules) {
  const RunResult run = RunPost(
      {"--report=markdown", "--fail-on=calls>5%", "--top=1", "--metric=bytes", "before", "after"},
      {{"before", kBefore}, {"after", kAfter}});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out,
              StartsWith("- ❌ `--fail-on=calls>5%: a.B.go(int): 1,000 → 1,100 (+10.0 %)`"));
  EXPECT_THAT(run.out, HasSubstr("| bytes | 100 | 150 | +50.0 % |\n"));
  EXPECT_THAT(run.out, HasSubstr("\n… and 3 more\n"));
  EXPECT_THAT(run.err, HasSubstr("--fail-on=calls>5%"));
}

TEST(DiffReportTest, CommentsShowAnyName) {
  EXPECT_EQ(MarkdownCode("a|b", Within::kTable), "`a\\|b`");
  EXPECT_EQ(MarkdownCode("a|b", Within::kText), "`a|b`");
  EXPECT_EQ(MarkdownCode("`x``", Within::kText), "``` `x`` ```");
  EXPECT_EQ(MarkdownCode("<init>\n| new |", Within::kTable), "`<init> \\| new \\|`");
}

TEST(DiffReportTest, CommentsHaveOneForm) {
  const RunResult csv = RunPost({"--report=markdown", "--format=csv", "before", "after"},
                                {{"before", kBefore}, {"after", kAfter}});
  EXPECT_EQ(csv.exit_code, 1);
  EXPECT_THAT(csv.err, HasSubstr("--format: markdown has one form"));
  const RunResult one = RunPost({"--report=markdown", "before"}, {{"before", kBefore}});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.err, HasSubstr("--report=markdown takes two traces"));
}

// A sample of weight 4 is one observation, not four.
TEST(DiffReportTest, WeightsAreNotObservations) {
  const std::string before = kHead + Samples(25, 4, "a.A.run()");
  const std::string after = kHead + Samples(50, 4, "a.A.run()");
  const RunResult run = Diff({"--format=csv"}, before, after);
  // (200 − 100) / √(4 · 300)
  EXPECT_THAT(ParseCsv(run.out).Project({"base_ticks_delta", "deviations", "significant"}),
              ElementsAre(CsvRow{"100", "2.89", "0"}));
}

// A routine that only samples see appears if they see it often enough to rule out chance.
TEST(DiffReportTest, AFewSamplesAreNotAnAppearance) {
  const std::string after = kBefore + Samples(8, 1, "a.A.run()\tN:rare") + Samples(9, 1, "N:often");
  const auto rows = ParseCsv(Diff({"--format=csv"}, kBefore, after).out).Project({"state", "name"});
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"same", "rare"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"appeared", "often"}));
}

TEST(DiffReportTest, TextShowsTotalsAndWhatChanged) {
  const RunResult run = Diff({});
  EXPECT_THAT(run.out, HasSubstr("1,017 → 1,113"));
  EXPECT_THAT(run.out, HasSubstr("1 appeared, 1 vanished, 1 changed, 1 the same"));
  EXPECT_THAT(run.out, HasSubstr("+100.0 % *"));
  EXPECT_THAT(run.out, Not(HasSubstr("a.A.run()")));
  EXPECT_THAT(Diff({}, kBefore, kBefore).out, HasSubstr("no routine changed"));
}

TEST(DiffReportTest, ComparesAMetric) {
  const RunResult run = Diff({"--metric=bytes", "--format=csv"});
  EXPECT_THAT(ParseCsv(run.out).Project({"name", "bytes_before", "bytes_after", "bytes_delta"}),
              ::testing::Contains(CsvRow{"a.A.run()", "100", "150", "50"}));
  EXPECT_EQ(Diff({"--metric=bytes", "--fail-on=metric>40%"}).exit_code, 3);
  EXPECT_EQ(Diff({"--metric=bytes", "--fail-on=metric>50%"}).exit_code, 0);
}

// A routine may have appeared or vanished.
TEST(DiffReportTest, TheRootNeedBeInOneTraceOnly) {
  const RunResult run = Diff({"--root=a.D.fresh", "--format=csv"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(ParseCsv(run.out).Project({"state", "name"}),
              ElementsAre(CsvRow{"appeared", "a.D.fresh()"}));
  EXPECT_EQ(Diff({"--root=a.None"}).exit_code, 1);
}

TEST(DiffReportTest, RulesDecideTheExitCode) {
  const std::vector<std::pair<std::string, bool>> rules = {
      {"calls>0", true},          {"calls>100", false},       {"calls>9%@a.B.*", true},
      {"calls>10%@a.B.*", false}, {"calls>0@a.A.run", false}, {"calls<0", true},
      {"calls<-7", false},        {"total.calls>9%", true},   {"total.calls>10%", false},
      {"ticks>90%", true},        {"ticks>100%", false},      {"ticks>0@a.A.*", false},
      {"appeared", true},         {"appeared@a.B.**", false}, {"vanished@a.C::old", true},
      {"total.ticks>60%", true}};
  for (const auto& [rule, broken] : rules) {
    const RunResult run = Diff({"--fail-on=" + rule});
    EXPECT_EQ(run.exit_code, broken ? 3 : 0) << rule << "\n" << run.err;
    if (broken) {
      EXPECT_THAT(run.err, HasSubstr("--fail-on=" + rule + ": ")) << rule;
    }
  }
  const RunResult run = Diff({"--fail-on=calls>5%@a.B.**"});
  EXPECT_THAT(run.err, HasSubstr("a.B.go(int): 1,000 → 1,100 (+10.0 %)"));
}

// A gate that checks nothing must not pass.
TEST(DiffReportTest, RulesThatCheckNothingAreRejected) {
  const std::string empty = kHead + "0\tmain\tthread-start\n";
  const auto refused = [](const RunResult& run, const std::string& why) {
    EXPECT_EQ(run.exit_code, 1) << why;
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  refused(Diff({"--fail-on=calls>5%@nosuch.**"}), "no routine matches it");
  refused(Diff({"--fail-on=time>0"}), "the trace before has none");
  refused(Diff({"--fail-on=total.calls>1%"}, kBefore, empty), "the trace after has none");
  refused(Diff({"--fail-on=appeared"}, empty, empty), "no routine in the traces");
  EXPECT_THAT(Diff({"--fail-on=metric>0"}).err, HasSubstr("needs --metric=M"));
}

TEST(DiffReportTest, ATraceWithoutEndPassesNoRule) {
  testing::TraceBuilder builder;
  builder.Thread("main", 1);
  builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(1, builder.Node(1, 0, 1), 5);
  builder.Seal();
  builder.chunk().mutable_session_end();
  const std::string whole = builder.Finish();
  const std::string cut = whole.substr(0, whole.size() - 10);
  EXPECT_EQ(Diff({}, cut, cut).exit_code, 0);
  const RunResult run = Diff({"--fail-on=total.calls>1%"}, cut, cut);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("before has no end"));
}

TEST(DiffReportTest, ADamagedTracePassesNoRule) {
  testing::TraceBuilder builder;
  builder.Thread("main", 1);
  builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(1, builder.Node(1, 0, 1), 5);
  builder.Seal();
  builder.LoseChunk();
  builder.chunk().mutable_session_end();
  const std::string damaged = builder.Finish();
  EXPECT_EQ(Diff({}, damaged, damaged).exit_code, 0);
  const RunResult run = Diff({"--fail-on=total.calls>1%"}, damaged, damaged);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("before is damaged (chunks missing)"));
}

// Times are never the same twice: a change is at least a hundredth of all time.
TEST(DiffReportTest, SelfTimesChangeToo) {
  const auto trace = [](int b, int c) {
    return kHead + Node("calls=1,base=" + std::to_string(b), "a.B.go(int)") +
           Node("calls=1,base=" + std::to_string(c), "a.C.old()");
  };
  const RunResult run = Diff({}, trace(1000, 500), trace(2000, 510));
  EXPECT_THAT(run.out, HasSubstr("1 changed, 1 the same"));
  EXPECT_THAT(run.out, HasSubstr("1.00 ms"));
  EXPECT_THAT(run.out, HasSubstr("+100.0 %"));
  EXPECT_THAT(Diff({}, trace(1000, 500), trace(1001, 500)).out, HasSubstr("no routine changed"));
}

TEST(DiffReportTest, RecordingsMustBeAlike) {
  const auto with = [](const std::string& facts) {
    return kHead + facts + kBefore.substr(kHead.size());
  };
  const RunResult timers =
      Diff({}, with("#@\tsession\ttimer\tcpu (POSIX timer)\n"), with("#@\tsession\ttimer\twall\n"));
  EXPECT_EQ(timers.exit_code, 2);
  EXPECT_THAT(timers.err, HasSubstr("record both with the same timer="));
  const RunResult same = Diff({}, with("#@\tsession\ttimer\tcpu (POSIX timer)\n"),
                              with("#@\tsession\ttimer\tcpu (perf event)\n"));
  EXPECT_EQ(same.exit_code, 0);
  const RunResult clocks =
      Diff({}, with("#@\tsession\tclock\tnone\n"), with("#@\tsession\tclock\ttsc\n"));
  EXPECT_EQ(clocks.exit_code, 0);
  EXPECT_THAT(clocks.err, HasSubstr("warning: recorded with another clock: none and tsc"));
}

TEST(DiffReportTest, MistakesAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--report=diff", "one"}, "takes two traces"},
      {{"--report=diff,flat", "one", "two"}, "takes two traces"},
      {{"--report=flat", "--fail-on=calls>0", "one"}, "--fail-on needs --report=diff"},
      {{"--report=diff", "--fail-on=cals>0", "a", "b"}, "nearest: calls"},
      {{"--report=diff", "--fail-on=calls", "a", "b"}, "no amount"},
      {{"--report=diff", "--fail-on=calls>x", "a", "b"}, "not a number"},
      {{"--report=diff", "--fail-on=appeared>1", "a", "b"}, "takes no amount"},
      {{"--report=diff", "--fail-on=total.appeared", "a", "b"}, "a total needs an amount"},
      {{"--report=diff", "--fail-on=calls>0@", "a", "b"}, "no routine after '@'"}};
  for (const auto& [args, message] : cases) {
    const RunResult run = RunPost(args, {});
    EXPECT_EQ(run.exit_code, 1) << message;
    EXPECT_THAT(run.err, HasSubstr(message));
  }
}

TEST(DiffReportTest, OtherUnitsAreNotCompared) {
  const RunResult run = Diff({}, kBefore, "# jtrace-text 1 unit=ns\n0\tmain\tenter\tA\n");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("cannot be compared"));
}

TEST(FailRuleTest, GrowthFromNothingIsInfinite) {
  EXPECT_TRUE(std::isinf(postproc::Change{0, 5}.percent()));
  EXPECT_EQ((postproc::Change{0, 0}.percent()), 0);
  EXPECT_EQ((postproc::Change{4, 5}.percent()), 25);
  EXPECT_EQ((postproc::Change{4, 3}.percent()), -25);
}

}  // namespace
}  // namespace jtrace
