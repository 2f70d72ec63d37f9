// Calls out of scope: costs by group, whose time they are, and how often each function makes them
// (S4.2, S4.13, S4.14).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using ::testing::Contains;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::ReportCsv;
using testing::Rows;

// main.run works 10 ms. In three calls it sends (2, 3 and 5 ms), copies twice (1 ms each), and
// calls `forEach`, which takes 4 ms itself and calls back `each`, 6 ms, which copies once, 2 ms.
// It waits 100 ms for the user. A sample in send's native code, one in run itself.
constexpr std::string_view kTrace =
    "# jtrace-text 1 unit=ms\n"
    "#@\troutine\tcall\tindeterminate\tio.send()\n"
    "#@\troutine\tcall\tvariable\tlang.copy()\t20\t250\n"
    "#@\troutine\tcall\tfixed\tlang.forEach()\t7\t0\n"
    "#@\troutine\tnative\tuser-input\tio.read()\n"
    "0\tmain\tenter\tmain.run()\n"
    "10\tmain\tenter\tio.send()\n"
    "11\tmain\tsample*3\tmain.run()\tio.send()\tN:libc.so.6!write\n"
    "12\tmain\texit\tio.send()\n"
    "12\tmain\tenter\tio.send()\n"
    "15\tmain\texit\tio.send()\n"
    "15\tmain\tenter\tio.send()\n"
    "20\tmain\texit\tio.send()\n"
    "20\tmain\tenter\tlang.copy()\n"
    "21\tmain\tmetric\toutside.elements\t100\n"
    "21\tmain\texit\tlang.copy()\n"
    "21\tmain\tenter\tlang.copy()\n"
    "22\tmain\texit\tlang.copy()\n"
    "22\tmain\tsample*2\tmain.run()\n"
    "22\tmain\tenter\tlang.forEach()\n"
    "25\tmain\tenter\tmain.each()\n"
    "28\tmain\tenter\tlang.copy()\n"
    "30\tmain\texit\tlang.copy()\n"
    "33\tmain\texit\tmain.each()\n"
    "34\tmain\texit\tlang.forEach()\n"
    "34\tmain\tenter\tio.read()\n"
    "134\tmain\texit\tio.read()\n"
    "134\tmain\texit\tmain.run()\n";

std::vector<CsvRow> InCaller(const std::string& report, const CsvRow& columns) {
  return testing::ParseCsv(
             ReportCsv(std::string(kTrace), {"--report=" + report, "--outside=caller"}))
      .Project(columns);
}

TEST(OutsideReportTest, EachIsAFunctionOfItsOwn) {
  const CsvRow columns = {"level", "calls", "base", "cum", "elapsed", "base_ticks", "name"};
  EXPECT_THAT(Rows(std::string(kTrace), "tree", columns),
              ElementsAre(CsvRow{"0", "1", "0", "34", "134", "0", "main"},
                          CsvRow{"1", "1", "10", "34", "134", "2", "main.run()"},
                          CsvRow{"2", "1", "4", "12", "12", "0", "lang.forEach()"},
                          CsvRow{"3", "1", "6", "8", "8", "0", "main.each()"},
                          CsvRow{"4", "1", "2", "2", "2", "0", "lang.copy()"},
                          CsvRow{"2", "3", "10", "10", "10", "0", "io.send()"},
                          CsvRow{"3", "0", "0", "0", "0", "3", "write"},
                          CsvRow{"2", "2", "2", "2", "2", "0", "lang.copy()"},
                          CsvRow{"2", "1", "0", "0", "100", "0", "io.read()"}));
}

// What is called back is called by the caller; sampled frames below a call are a part of it.
TEST(OutsideReportTest, OrItBelongsToItsCaller) {
  const CsvRow columns = {"level", "calls", "base", "cum", "elapsed", "base_ticks", "name"};
  EXPECT_THAT(InCaller("tree", columns),
              ElementsAre(CsvRow{"0", "1", "0", "34", "134", "0", "main"},
                          CsvRow{"1", "1", "26", "34", "134", "5", "main.run()"},
                          CsvRow{"2", "1", "8", "8", "8", "0", "main.each()"}));
}

TEST(OutsideReportTest, TotalsAndInvariantsHoldEitherWay) {
  for (const char* key : {"cum", "ticks", "duration", "calls", "calls_boundary", "invariants_held",
                          "metric.outside.cycles", "outside.fixed.calls", "outside.fixed.cycles",
                          "outside.indeterminate.time", "outside.user-input.calls"}) {
    const auto value = [&](const std::vector<CsvRow>& rows) {
      for (const CsvRow& row : rows) {
        if (row[0] == key) return row[1];
      }
      return std::string("none");
    };
    const std::string own = value(Rows(std::string(kTrace), "summary", {"key", "value"}));
    EXPECT_NE(own, "none") << key;
    EXPECT_EQ(own, value(InCaller("summary", {"key", "value"}))) << key;
  }
}

TEST(OutsideReportTest, CostsByGroup) {
  EXPECT_THAT(
      Rows(std::string(kTrace), "summary", {"key", "value"}),
      IsSupersetOf(
          {CsvRow{"outside.fixed.calls", "1"}, CsvRow{"outside.fixed.cycles", "7"},
           CsvRow{"outside.fixed.time", "4"}, CsvRow{"outside.variable.calls", "3"},
           CsvRow{"outside.variable.cycles", "85"}, CsvRow{"outside.variable.time", "4"},
           CsvRow{"outside.indeterminate.calls", "3"}, CsvRow{"outside.indeterminate.cycles", "0"},
           CsvRow{"outside.indeterminate.time", "10"}, CsvRow{"outside.user-input.calls", "1"},
           CsvRow{"outside.user-input.time", "0"}, CsvRow{"calls_boundary", "8"}}));
  const std::string text =
      testing::RunPost({"--report=summary", "trace"}, {{"trace", std::string(kTrace)}}).out;
  EXPECT_THAT(text, HasSubstr("outside     1 fixed, 7 cycles, 4.00 ms · 3 variable, 85 cycles, "
                              "4.00 ms · 3 indeterminate, 10.0 ms"));
  EXPECT_THAT(text, HasSubstr("1 user-input, not charged"));
}

// 20 a call and a quarter for each of 100 elements.
TEST(OutsideReportTest, CyclesAreAMetric) {
  const auto cycles = [](std::vector<std::string> args) {
    args.insert(args.end(), {"--report=flat", "--metric=outside.cycles"});
    return testing::ParseCsv(ReportCsv(std::string(kTrace), std::move(args)))
        .Project({"name", "outside.cycles.base", "outside.cycles.cum"});
  };
  EXPECT_THAT(cycles({}),
              IsSupersetOf({CsvRow{"main.run()", "0", "92"}, CsvRow{"lang.copy()", "85", "85"},
                            CsvRow{"lang.forEach()", "7", "27"}}));
  EXPECT_THAT(cycles({"--outside=caller"}),
              IsSupersetOf({CsvRow{"main.run()", "72", "92"}, CsvRow{"main.each()", "20", "20"}}));
}

// Number and time of the calls that a function makes itself; what they call back is not counted.
TEST(OutsideReportTest, EachFunctionsCallsOutOfScope) {
  const CsvRow columns = {"name", "outside_calls", "outside_time"};
  const std::vector<CsvRow> expected = {CsvRow{"main.run()", "7", "16"},
                                        CsvRow{"main.each()", "1", "2"}, CsvRow{"main", "0", "0"}};
  EXPECT_THAT(Rows(std::string(kTrace), "flat", columns), IsSupersetOf(expected));
  EXPECT_THAT(InCaller("flat", columns), IsSupersetOf(expected));
  EXPECT_THAT(
      testing::ParseCsv(ReportCsv(std::string(kTrace), {"--report=function", "--of=main.run"}))
          .Project({"row", "outside_calls", "outside_time"}),
      IsSupersetOf({CsvRow{"caller", "", ""}, CsvRow{"self", "7", "16"}}));
}

// Without a clock the agent's own readings are the time.
TEST(OutsideReportTest, TimeIsWhatTheAgentMeasured) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "#@\troutine\tcall\tindeterminate\tio.send()\n"
      "0\tmain\tnode\tcalls=1\trun\n"
      "0\tmain\tnode\tcalls=5,outside.ns=7000\trun\tio.send()\n";
  EXPECT_THAT(Rows(trace, "flat", {"name", "outside_calls", "outside_time"}),
              Contains(CsvRow{"run", "5", "7"}));
  EXPECT_THAT(Rows(trace, "summary", {"key", "value"}),
              Contains(CsvRow{"outside.indeterminate.time", "7"}));
}

// Two callers, whose calls take different times.
constexpr std::string_view kTwoCallers =
    "# jtrace-text 1 unit=ms\n"
    "#@\troutine\tcall\tfixed\tout()\n"
    "0\tt\tnode\tcalls=1,base=1,min=1,max=1\ta\n"
    "0\tt\tnode\tcalls=2,base=30,min=10,max=20\ta\td\n"
    "0\tt\tnode\tcalls=1,base=1,min=1,max=1\ta\tb\n"
    "0\tt\tnode\tcalls=3,base=12,min=2,max=6\ta\tb\td\n"
    "0\tt\tnode\tcalls=4,base=8,min=2,max=2\ta\tb\td\tout()\n";

TEST(OutsideReportTest, ExtremesByCaller) {
  const CsvRow columns = {"row", "min_base", "max_base", "name"};
  const auto arcs =
      testing::ParseCsv(ReportCsv(std::string(kTwoCallers), {"--report=function", "--of=d"}));
  EXPECT_THAT(arcs.Project(columns),
              ElementsAre(CsvRow{"caller", "10", "20", "a"}, CsvRow{"caller", "2", "6", "b"},
                          CsvRow{"self", "2", "20", "d"}, CsvRow{"callee", "", "", "out()"}));
  EXPECT_THAT(
      Rows(std::string(kTwoCallers), "arcflow", {"self", "row", "min_base", "max_base", "name"}),
      IsSupersetOf({CsvRow{"d", "parent", "10", "20", "a"}, CsvRow{"d", "parent", "2", "6", "b"},
                    CsvRow{"d", "self", "2", "20", "d"}, CsvRow{"d", "child", "", "", "out()"}}));
  const std::string text = testing::RunPost({"--report=arcflow", "--width=0", "trace"},
                                            {{"trace", std::string(kTwoCallers)}})
                               .out;
  EXPECT_THAT(text, HasSubstr("2    30.0 ms    30.0 ms   10.0 ms   20.0 ms    ┌ a\n"));
  EXPECT_THAT(text, HasSubstr("3    12.0 ms    20.0 ms   2.00 ms   6.00 ms    ┌ b\n"));
}

// How the calls' time is spread over the caller's activations is not known: bounds remain.
TEST(OutsideReportTest, ExtremesOfCallersAreBounds) {
  const std::vector<std::string> args = {"--report=flat", "--outside=caller", "trace"};
  const std::string text = testing::RunPost(args, {{"trace", std::string(kTwoCallers)}}).out;
  // Of 50 ms in 5 calls: at least 2 ms, at most 6 + 8 ms by b, 20 ms by a.
  EXPECT_THAT(text, HasSubstr("≥ 2.00 ms  ≤ 20.0 ms"));
  EXPECT_THAT(text, HasSubstr("--outside=caller"));
  EXPECT_THAT(testing::ParseCsv(ReportCsv(std::string(kTwoCallers),
                                          {"--report=function", "--of=d", "--outside=caller"}))
                  .Project({"row", "min_base", "max_base", "name"}),
              ElementsAre(CsvRow{"caller", "10", "20", "a"}, CsvRow{"caller", "2", "14", "b"},
                          CsvRow{"self", "2", "20", "d"}));
  // One call: exact.
  EXPECT_THAT(InCaller("flat", {"name", "min_base", "max_base"}),
              Contains(CsvRow{"main.run()", "26", "26"}));
}

TEST(OutsideReportTest, EveryEventReportAndExportHonoursIt) {
  for (const char* report : {"tree", "flat", "arcflow", "graph", "dot", "collapsed", "callgrind",
                             "speedscope", "classes", "html", "paths"}) {
    const auto shown = [&](std::vector<std::string> args) {
      args.insert(args.end(), {std::string("--report=") + report, "trace"});
      if (std::string_view(report) != "html") args.emplace_back("--metric=time");
      return testing::RunPost(args, {{"trace", std::string(kTrace)}});
    };
    const testing::RunResult own = shown({});
    const testing::RunResult folded = shown({"--outside=caller"});
    EXPECT_EQ(folded.exit_code, 0) << report << folded.err;
    EXPECT_NE(own.out, folded.out) << report;
    if (std::string_view(report) == "html") continue;  // packed
    EXPECT_THAT(folded.out, Not(HasSubstr("forEach"))) << report;
  }
  const testing::RunResult diff =
      testing::RunPost({"--report=diff", "--outside=caller", "--format=csv", "a", "b"},
                       {{"a", std::string(kTrace)}, {"b", std::string(kTwoCallers)}});
  EXPECT_THAT(diff.out, Not(HasSubstr("lang.")));
}

TEST(OutsideReportTest, ReportsThatCannotHonourItRefuse) {
  for (const char* report : {"functions", "modules", "samples", "paths", "waits", "hooks", "never",
                             "dump", "perfetto", "jfr"}) {
    const testing::RunResult result =
        testing::RunPost({std::string("--report=") + report, "--outside=caller", "trace"},
                         {{"trace", std::string(kTrace)}});
    EXPECT_EQ(result.exit_code, 1) << report;
    EXPECT_THAT(result.err, HasSubstr("--outside: ")) << report;
  }
  EXPECT_EQ(testing::RunPost({"--report=paths", "--metric=time", "--outside=caller", "trace"},
                             {{"trace", std::string(kTrace)}})
                .exit_code,
            0);
  const testing::RunResult of = testing::RunPost(
      {"--report=function", "--of=io.send", "--outside=caller", "t"}, {{"t", std::string(kTrace)}});
  EXPECT_EQ(of.exit_code, 1);
  EXPECT_THAT(of.err, HasSubstr("--of: no routine 'io.send'"));
}

TEST(OutsideReportTest, ADumpKeepsCycles) {
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", std::string(kTrace)}}).out;
  EXPECT_THAT(dump, HasSubstr("#@\troutine\tcall\tvariable\tlang.copy()\t20\t250\n"));
  const std::vector<std::string> args = {"--report=summary,flat", "--metric=outside.cycles"};
  EXPECT_EQ(ReportCsv(dump, args), ReportCsv(std::string(kTrace), args));
}

}  // namespace
}  // namespace jtrace
