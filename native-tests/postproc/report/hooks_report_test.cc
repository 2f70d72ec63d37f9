// hooks, and hooked native functions in other reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using ::testing::Contains;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ParseCsv;
using testing::RunPost;
using testing::RunResult;

// native-tests/golden/hooks.jtxt: malloc is timed, free counted, fork_and_exec never called.
std::string Golden(const std::string& name) {
  std::ostringstream content;
  content << std::ifstream(JTRACE_SOURCE_DIR "/native-tests/golden/" + name).rdbuf();
  return content.str();
}
std::string GoldenTrace() { return Golden("hooks.jtxt"); }

constexpr char kNoHooks[] = "# jtrace-text 1 unit=ns\n0\tmain\tenter\tA\n";

std::string Text(std::vector<std::string> args, const std::string& trace = GoldenTrace()) {
  args.emplace_back("t");
  const RunResult run = RunPost(args, {{"t", trace}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

std::vector<CsvRow> Callers(std::vector<std::string> args, const CsvRow& columns) {
  args.emplace_back("--report=hooks");
  return ParseCsv(testing::ReportCsv(GoldenTrace(), args)).Project(columns);
}

TEST(HooksReportTest, TextHasHooksAndTheCallersOfEach) {
  EXPECT_EQ(Text({"--report=hooks", "--width=0"}), Golden("hooks.txt"));
}

TEST(HooksReportTest, SaysHowManyCallsWereTimed) {
  EXPECT_THAT(Text({"--report=hooks"}),
              HasSubstr("── libc.so.6!malloc ──\n900 of 1,050 calls timed: 152 µs in all, 168 ns a "
                        "call, from 10 ns to 9.00 µs\n"));
  EXPECT_THAT(Text({"--report=hooks"},
                   "# jtrace-text 1 unit=ns\n0\tmain\thook\tN:f\ttime\t\t"
                   "calls=12\n"),
              HasSubstr("0 of 12 calls timed: no return was seen\n"));
  // Hooks that only count have no times.
  EXPECT_THAT(Text({"--report=hooks"},
                   "# jtrace-text 1 unit=ns\n0\tmain\thook\tN:f\tcount\t\t"
                   "calls=12\n"),
              Not(HasSubstr("timed")));
}

// Nanoseconds, whatever the unit of the trace's times.
TEST(HooksReportTest, TimesAreNanosecondsInAnyTrace) {
  const std::string trace =
      "# jtrace-text 1 "
      "unit=ms\n0\tmain\thook\tN:f\ttime\t\tcalls=2,timed=2,total=30,min=10,max=20\n";
  EXPECT_THAT(Text({"--report=hooks"}, trace),
              HasSubstr("2 of 2 calls timed: 30 ns in all, 15 ns a call, from 10 ns to 20 ns\n"));
}

TEST(HooksReportTest, ThreadsAreDistinguishedExceptByProcess) {
  EXPECT_THAT(Callers({"--aggregate=process"}, {"thread", "java", "native", "calls", "timed",
                                                "total_ns", "min_ns", "max_ns"}),
              Contains(CsvRow{"", "b.B.grow(int)", "libjvm.so!os::malloc(unsigned long)", "800",
                              "700", "62000", "10", "9000"}));
  EXPECT_THAT(
      Callers({"--thread=pool"}, {"hook", "thread", "calls"}),
      ElementsAre(CsvRow{"libc.so.6!malloc", "pool", "100"}, CsvRow{"libc.so.6!free", "pool", "60"},
                  CsvRow{"libjvm.so!os::fork_and_exec(char const*)", "", "0"}));
}

TEST(HooksReportTest, FilterTopAndSortApply) {
  const CsvRow columns = {"calls", "max_ns"};
  // 30 of 100 of all calls, by any hook.
  EXPECT_THAT(Callers({"--filter=30"}, columns),
              ElementsAre(CsvRow{"700", "9000"}, CsvRow{"640", "0"}));
  EXPECT_THAT(Callers({"--top=2", "--sort=max_ns"}, columns),
              ElementsAre(CsvRow{"700", "9000"}, CsvRow{"200", "1200"}));
  const std::string text = Text({"--report=hooks", "--top=1", "--sort=total_ns"});
  EXPECT_THAT(text, HasSubstr("… 2 more hooks\n"));
  EXPECT_THAT(text, HasSubstr("inflateInit2_"));
  EXPECT_THAT(text, HasSubstr("… 3 more callers\n"));
  EXPECT_THAT(text, Not(HasSubstr("os::malloc")));
  EXPECT_THAT(text, Not(HasSubstr("── libc.so.6!free")));
  EXPECT_THAT(Text({"--report=hooks", "--filter=50"}), Not(HasSubstr("libc.so.6!free")));
}

TEST(HooksReportTest, OptionsThatItDoesNotUseAreRejected) {
  const std::string trace = GoldenTrace();
  for (const auto& [option, message] :
       std::vector<std::pair<std::string, std::string>>{{"--metric=calls", "--metric: hooks"},
                                                        {"--root=malloc", "--root: hooks"},
                                                        {"--sort=time", "hooks has no column"}}) {
    const RunResult run = RunPost({"--report=hooks", option, "t"}, {{"t", trace}});
    EXPECT_EQ(run.exit_code, 1) << option;
    EXPECT_THAT(run.err, HasSubstr(message));
  }
}

TEST(HooksReportTest, JsonHasTheRowsOfTheCsv) {
  const auto json = nlohmann::json::parse(Text({"--report=hooks", "--format=json"}));
  ASSERT_EQ(json["rows"].size(), 7u);
  EXPECT_EQ(json["rows"][0]["hook"], "libc.so.6!malloc");
  EXPECT_EQ(json["rows"][0]["max_ns"], 9000);
  EXPECT_TRUE(json["rows"][3]["native"].is_null());
}

TEST(HooksReportTest, ATraceWithoutHooksSaysHowToGetSome) {
  EXPECT_EQ(
      Text({"--report=hooks"}, kNoHooks),
      "no hooks in this trace: the agent's option hook= puts them into native functions, e.g. "
      "hook=libc.so.6!malloc:time\n");
  EXPECT_EQ(Text({"--report=hooks", "--format=csv"}, kNoHooks),
            "hook,kind,thread,java,native,calls,timed,total_ns,min_ns,max_ns,pattern\n");
  EXPECT_THAT(Text({"--report=summary"}, kNoHooks), Not(HasSubstr("hooks")));
}

TEST(HooksReportTest, TheSummaryCountsThemSeparately) {
  const auto summary =
      ParseCsv(testing::ReportCsv(GoldenTrace(), {"--report=summary"})).Project({"key", "value"});
  EXPECT_THAT(summary, Contains(CsvRow{"calls", "37"}));
  EXPECT_THAT(summary, Contains(CsvRow{"calls_boundary", "0"}));
  EXPECT_THAT(summary, Contains(CsvRow{"hooks", "3"}));
  EXPECT_THAT(summary, Contains(CsvRow{"calls_hooked", "1750"}));
  EXPECT_THAT(summary, Contains(CsvRow{"records.0x33/0x1", "6"}));
  EXPECT_THAT(summary, Contains(CsvRow{"invariants_held", "4"}));
  const std::string text = Text({});
  EXPECT_THAT(text, HasSubstr("hooks       1,750 calls of 3 native functions, 1 of them never "
                              "called (--report=hooks)\n"));
  EXPECT_THAT(text, HasSubstr("6 callers of native hooks (0x33/0x1)"));
  EXPECT_THAT(text, HasSubstr("4 of 4 hold"));
}

TEST(HooksReportTest, OtherReportsHaveThemAsNativeFunctions) {
  // No Java class is named "os::fork_and_exec(char const*)" or has an empty name.
  EXPECT_THAT(testing::Rows(GoldenTrace(), "classes", {"calls", "name"}),
              ElementsAre(CsvRow{"35", "b.B"}, CsvRow{"2", "a.A"}));
  EXPECT_THAT(ParseCsv(testing::ReportCsv(GoldenTrace(), {"--report=arcflow"}))
                  .Project({"self", "row", "calls", "name"}),
              Contains(CsvRow{"malloc", "parent", "1000", "b.B.grow(int)"}));
  EXPECT_THAT(Text({"--report=collapsed", "--metric=calls"}),
              HasSubstr("main;a.A.run();b.B.grow(int);malloc 900\n"));
  const std::string callgrind = Text({"--report=callgrind"});
  EXPECT_THAT(callgrind, HasSubstr("libc.so.6\n"));
  EXPECT_THAT(callgrind, HasSubstr("calls=1000 0\n"));
  EXPECT_THAT(Text({"--report=dot", "--metric=calls"}), HasSubstr("malloc"));
  EXPECT_THAT(Text({"--report=jit", "--format=csv"}), Not(HasSubstr("malloc")));
  const std::string trace = GoldenTrace();
  EXPECT_EQ(RunPost({"--report=html", "t"}, {{"t", trace}}).exit_code, 0);
}

// A thread without Java code is folded for people, although native functions are counted in it.
TEST(HooksReportTest, ThreadsOfTheJvmStayFolded) {
  const std::string trace =
      "# jtrace-text 1 unit=ns\n"
      "0\tmain\tnode\tcalls=1\tA\n0\tmain\tsample-at\t1\tA\tA\n"
      "0\tGC Thread\tsample\tN:work\n0\tGC Thread\thook\tN:libc.so.6!malloc\tcount\t\tcalls=5\n";
  EXPECT_THAT(Text({}, trace), HasSubstr("thread GC Thread  (--thread shows its frames)"));
}

}  // namespace
}  // namespace jtrace
