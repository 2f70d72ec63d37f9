// Findings as text, table and JSON, and on the first screen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/postproc/findings/finding_trace.h"

namespace jtrace {
namespace {

using ::testing::AllOf;
using testing::CsvRow;
using ::testing::ElementsAre;
using testing::FindingTrace;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunPost;

const FindingTrace::Path kMain = {"shop.Main.run()"};

// Methods that box, each with a greater share than the one before, and one that compiles patterns.
FindingTrace Trace(const std::string& last_name) {
  FindingTrace trace;
  trace.Calls(kMain, 1);
  int64_t ticks = 100;
  for (const std::string name : {"a", "b", "c"}) {
    const FindingTrace::Path path = {kMain[0], "shop.Main." + name + "(int)"};
    trace.Calls(path, 2).Ticks(path, {"I:java.lang.Long.valueOf(long)"}, ticks += 10);
  }
  const FindingTrace::Path last = {kMain[0], last_name};
  trace.Calls(last, 500);
  trace.Ticks(last, {"C:java.util.regex.Pattern.compile(String)"}, 300);
  trace.Ticks(last, {"C:java.lang.String.format(String,Object[])"}, 200);
  trace.Ticks(last, {"C:java.lang.Throwable.<init>()"}, 90);
  return trace;
}

std::string Text(const FindingTrace& trace, std::vector<std::string> options) {
  options.emplace_back("my trace.bin");
  const auto run = RunPost(options, {{"my trace.bin", trace.text()}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

TEST(FindingsReportTest, TheGreatestShareIsFirstAndSaysWhereToLook) {
  const std::string text = Text(Trace("shop.Main.it's(int)"), {"--report=findings", "--width=0"});
  EXPECT_THAT(
      text,
      HasSubstr(
          "  31.6 %  shop.Main.it's(int) runs 500 times, all from shop.Main.run(); 50.8 % of its "
          "time is Pattern.compile\n"
          "          500 calls; 300 ms in Pattern.compile of 950 ms: if the pattern is the "
          "same at each call, keep it in a static final field\n"
          "          → jtrace-post --report=function '--of=shop.Main.it'\\''s(int)' 'my "
          "trace.bin'\n"
          "  21.1 %  shop.Main.it's(int) runs 500 times, all from shop.Main.run(); 33.9 % of its "
          "time is String.format\n"));
  EXPECT_THAT(text, HasSubstr("not recorded, so not looked for: monitors (codes=+waited or "));
  EXPECT_THAT(
      testing::Rows(Trace("shop.Main.d(int)").text(), "findings", {"rule", "share", "needs"}),
      ::testing::Contains(CsvRow{"not-inlined", "", "mode=merged"}));
}

TEST(FindingsReportTest, TopAndFilterApply) {
  const FindingTrace trace = Trace("shop.Main.d(int)");
  const auto rules = [&](std::vector<std::string> options) {
    options.emplace_back("--report=findings");
    std::string found;
    for (const CsvRow& row :
         testing::ParseCsv(testing::ReportCsv(trace.text(), options)).Project({"rule", "share"})) {
      if (!row[1].empty()) found += row[0] + " ";
    }
    return found;
  };
  EXPECT_EQ(rules({}), "costly-setup costly-setup boxing boxing boxing exceptions ");
  EXPECT_EQ(rules({"--filter=13"}), "costly-setup costly-setup boxing ");
  EXPECT_EQ(rules({"--top=2"}), "costly-setup costly-setup ");
  const std::string first = Text(trace, {"--report=findings", "--top=1"});
  EXPECT_THAT(first, AllOf(HasSubstr("Pattern.compile"), Not(HasSubstr("String.format"))));
  EXPECT_THAT(Text(trace, {"--report=findings", "--filter=40"}), HasSubstr("no findings\n"));
}

TEST(FindingsReportTest, TheFirstScreenHasFiveAtMost) {
  const std::string screen = Text(Trace("shop.Main.d(int)"), {"--report=headline"});
  EXPECT_THAT(screen, AllOf(HasSubstr("── findings, 5 of 6 (--report=findings) ──"),
                            HasSubstr("shop.Main.a(int) boxes"), Not(HasSubstr("exceptions take")),
                            Not(HasSubstr("not recorded"))));
  FindingTrace quiet;
  EXPECT_THAT(Text(quiet.Calls(kMain, 1).Ticks(kMain, {}, 100), {"--report=headline"}),
              Not(HasSubstr("findings")));
}

TEST(FindingsReportTest, ARejectionSaysWhy) {
  const FindingTrace trace = Trace("shop.Main.d(int)");
  for (const std::string option :
       {"--metric=ticks", "--sort=share", "--root=shop.Main.run", "--scope=app"}) {
    const auto run = RunPost({"--report=findings", option, "t"}, {{"t", trace.text()}});
    EXPECT_EQ(run.exit_code, 1) << option;
    EXPECT_THAT(run.err, HasSubstr("findings")) << option;
  }
}

// Whatever --metric is about, shares are of the time.
TEST(FindingsReportTest, AMetricOfTheHeadlineChangesNothing) {
  FindingTrace trace = Trace("shop.Main.d(int)");
  trace.Record("main\tmetric\talloc.bytes\t1000000");
  EXPECT_THAT(Text(trace, {"--report=headline", "--metric=alloc.bytes"}),
              HasSubstr("  31.6 %  shop.Main.d(int) runs 500 times, all from shop.Main.run(); 50.8 "
                        "% of its time is"));
}

// A path of a hundred thousand methods, in which each one compiles patterns: a pass over the tree
// for each of its nodes would not end.
TEST(FindingsReportTest, DeepPathsTakeLinearTime) {
  constexpr int kDepth = 100'000;
  std::string trace = "# jtrace-text 1 unit=ms\n";
  for (int i = 0; i < kDepth; ++i) {
    const std::string at = "0\tmain\tenter\tdeep.A.m" + std::to_string(i % 5000) + "()\n";
    trace += at;
    trace += "0\tmain\tsample*9\tC:java.util.regex.Pattern.compile()\n";
  }
  EXPECT_THAT(testing::ReportCsv(trace, {"--report=findings"}), HasSubstr("rule,share"));
}

}  // namespace
}  // namespace jtrace
