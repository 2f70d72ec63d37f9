// never, classes, function: reports on the classes and methods of the scope.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::Csv;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ParseCsv;
using testing::RunPost;
using testing::RunResult;

// a.A.run calls itself once and a.B.go twice; a.B.idle and a.C.<init> are in scope and never run.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "#@\tscope\ta.A.run()\n#@\tscope\ta.B.go(int)\n#@\tscope\ta.B.idle()\n#@\tscope\ta.C.<init>()\n"
    "#@\tsession\tend\tthe program ended\n#@\tsession\tmethods_probed\t6\n"
    "0\tmain\tclass-load\ta.A\tmethods=1\t/lib/a.jar\n"
    "2\tmain\tclass-load\ta.B\tmethods=3\n"
    "3\tmain\tclass-unload\ta.B\n"
    "4\tmain\tclass-load\ta.B\tmethods=4\n"
    "10\tmain\tenter\ta.A.run()\n"
    "11\tmain\tenter\ta.A.run()\n"
    "13\tmain\tenter\ta.B.go(int)\n"
    "17\tmain\texit\ta.B.go(int)\n"
    "18\tmain\texit\ta.A.run()\n"
    "19\tmain\tenter\ta.B.go(int)\n"
    "19\tmain\tsample*2\ta.A.run()\ta.B.go(int)\tN:libc.so.6!write\n"
    "20\tmain\texit\ta.B.go(int)\n"
    "30\tmain\texit\ta.A.run()\n";

std::string Text(const std::string& option, const std::string& trace = kTrace) {
  const RunResult run = RunPost({option, "trace"}, {{"trace", trace}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

Csv Table(const std::string& option, const std::string& more = "--width=0") {
  return ParseCsv(RunPost({option, more, "--format=csv", "trace"}, {{"trace", kTrace}}).out);
}

TEST(NeverReportTest, ListsMethodsInScopeWithoutCalls) {
  EXPECT_THAT(Table("--report=never").rows,
              ElementsAre(CsvRow{"a.B", "a.B.idle()", "1"}, CsvRow{"a.C", "a.C.<init>()", "1"}));
  const std::string text = Text("--report=never");
  EXPECT_THAT(text, HasSubstr("2 of 4 methods in scope never ran (50.0 %)"));
  EXPECT_THAT(text, HasSubstr("a.B  1 of 2\n    idle()\n"));
  EXPECT_THAT(text, HasSubstr("a.C  1 of 1\n    <init>()\n"));
  // Six had probes, the trace names four.
  EXPECT_THAT(text, HasSubstr("2 methods more were of classes that were unloaded"));
}

TEST(NeverReportTest, ReportsTracesWithoutCountedMethods) {
  EXPECT_THAT(Text("--report=never", "# jtrace-text 1 unit=us\n0\tmain\tsample\tN:main\n"),
              HasSubstr("no methods were counted"));
}

TEST(ClassesReportTest, SumsOverMethods) {
  const Csv csv = Table("--report=classes");
  EXPECT_THAT(csv.header,
              ElementsAre("calls", "base", "base_ticks", "samples", "methods", "counted",
                          "executed", "loads", "unloads", "first_load", "source", "name"));
  EXPECT_THAT(
      csv.rows,
      ElementsAre(CsvRow{"2", "15", "0", "0", "1", "1", "1", "1", "0", "0", "/lib/a.jar", "a.A"},
                  CsvRow{"2", "5", "0", "0", "4", "2", "1", "2", "1", "2", "", "a.B"},
                  CsvRow{"0", "0", "0", "0", "", "1", "0", "0", "0", "", "", "a.C"}));
}

TEST(ClassesReportTest, ExceptionsAreNotClassesThatRun) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n#@\troutine\tthrown\t\t[thrown] java.io.IOException\n"
      "#@\troutine\tcaught\t\t[caught] java.io.IOException\n"
      "#@\troutine\tpark\t\tjdk.internal.misc.Unsafe.park(boolean,long)\n"
      "0\tmain\tenter\ta.A.run()\n1\tmain\tenter\t[thrown] java.io.IOException\n"
      "1\tmain\texit\t[thrown] java.io.IOException\n"
      "1\tmain\tenter\t[caught] java.io.IOException\n"
      "1\tmain\texit\t[caught] java.io.IOException\n"
      "2\tmain\tenter\tjdk.internal.misc.Unsafe.park(boolean,long)\n"
      "4\tmain\texit\tjdk.internal.misc.Unsafe.park(boolean,long)\n"
      "5\tmain\texit\ta.A.run()\n";
  const RunResult run = RunPost({"--report=classes", "--format=csv", "trace"}, {{"trace", trace}});
  EXPECT_THAT(ParseCsv(run.out).Project({"calls", "base", "name"}),
              ElementsAre(CsvRow{"1", "3", "a.A"}, CsvRow{"1", "2", "jdk.internal.misc.Unsafe"}))
      << run.err;
}

// The recursive call and its callees count once, as parts of the whole.
TEST(FunctionReportTest, SharesAreOfTheRoutineItself) {
  const Csv csv = Table("--report=function", "--of=a.A.run");
  const auto rows = csv.Project({"row", "calls", "calls_pct", "base", "cum", "cum_pct", "name"});
  EXPECT_THAT(rows, ElementsAre(CsvRow{"caller", "1", "50.00", "", "20", "100.00", "main"},
                                CsvRow{"caller", "1", "50.00", "", "7", "35.00", "a.A.run()"},
                                CsvRow{"self", "2", "", "15", "20", "", "a.A.run()"},
                                CsvRow{"callee", "1", "", "", "7", "35.00", "a.A.run()"},
                                CsvRow{"callee", "2", "", "", "5", "25.00", "a.B.go(int)"}));
}

TEST(FunctionReportTest, ShowsExtremesAndTicks) {
  const Csv csv = Table("--report=function", "--of=a.B.go");
  const auto self = csv.Project({"row", "base", "min_base", "max_base", "cum_ticks"});
  EXPECT_THAT(self,
              ElementsAre(CsvRow{"caller", "", "1", "4", "2"}, CsvRow{"self", "5", "1", "4", "2"},
                          CsvRow{"callee", "", "", "", "2"}));
}

// However deep the recursion, no share exceeds the whole; with many partners each takes no longer.
TEST(FunctionReportTest, DeepRecursionCountsEachMomentOnce) {
  std::string trace = "# jtrace-text 1 unit=us\n";
  for (int i = 0; i < 2000; ++i) trace += "0\tmain\tenter\ta.A.run()\n";
  trace += "10\tmain\tsample\tN:leaf\n";
  for (int i = 0; i < 2000; ++i) trace += "40\tmain\texit\ta.A.run()\n";
  const RunResult run =
      RunPost({"--report=function", "--of=a.A.run", "--format=csv", "trace"}, {{"trace", trace}});
  EXPECT_THAT(ParseCsv(run.out).Project({"row", "calls", "cum", "cum_pct", "name"}),
              ElementsAre(CsvRow{"caller", "1999", "40", "100.00", "a.A.run()"},
                          CsvRow{"caller", "1", "40", "100.00", "main"},
                          CsvRow{"self", "2000", "40", "", "a.A.run()"},
                          CsvRow{"callee", "1999", "40", "100.00", "a.A.run()"}));
}

TEST(FunctionReportTest, NeedsAnExistingRoutine) {
  const RunResult none = RunPost({"--report=function", "trace"}, {{"trace", kTrace}});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("needs --of=ROUTINE"));
  const RunResult wrong =
      RunPost({"--report=function", "--of=a.A.rnu", "trace"}, {{"trace", kTrace}});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("nearest: a.A.run"));
}

TEST(ArcFlowReportTest, SelfRowsHaveExtremes) {
  const auto rows = Table("--report=arcflow").Project({"row", "name", "min_base", "max_base"});
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"self", "a.B.go(int)", "1", "4"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"child", "a.B.go(int)", "", ""}));
}

}  // namespace
}  // namespace jtrace
