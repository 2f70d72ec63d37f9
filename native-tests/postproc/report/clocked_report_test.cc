// Texts of traces that have both samples and a clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// main computes in `busy` for 200 ms, and sleeps in `nap` for 100 ms.
constexpr std::string_view kTrace =
    "# jtrace-text 1 unit=ms\n"
    "0\tmain\tenter\ta\n"
    "0\tmain\tenter\tbusy\n"
    "50\tmain\tsample*9\ta\tbusy\tnative\n"
    "200\tmain\texit\tbusy\n"
    "200\tmain\tenter\tnap\n"
    "201\tmain\toff\n"
    "301\tmain\ton\n"
    "302\tmain\texit\tnap\n"
    "302\tmain\texit\ta\n";

std::string TextOf(const std::string& report, const std::string& width) {
  return testing::RunPost({"--report=" + report, "--width=" + width, "trace"},
                          {{"trace", std::string(kTrace)}})
      .out;
}

TEST(ClockedReportTest, TreeHasTheClocksTimesBesideTheTicks) {
  const std::string tree = TextOf("tree", "120");
  EXPECT_THAT(tree, HasSubstr("share     ticks      self      time   waiting          calls  "));
  EXPECT_THAT(tree, HasSubstr("100.0 %         9              200 ms                        1  "));
  EXPECT_THAT(tree, HasSubstr("100.0 %         9         9                                     "));
}

// It has no samples, but is a third of the clock's time.
TEST(ClockedReportTest, WaitingCodeIsShownWithoutSamples) {
  EXPECT_THAT(
      TextOf("tree", "120"),
      HasSubstr("  0.0 %         0             2.00 ms    100 ms              1     └─ nap"));
}

TEST(ClockedReportTest, FlatListLeavesTimesOfSampledRoutinesEmpty) {
  const std::string flat = TextOf("flat", "120");
  EXPECT_THAT(flat, HasSubstr("0.0 %     0      0      1  2.00 ms     2.00 ms   100 ms  2.00 ms"));
  EXPECT_THAT(flat,
              HasSubstr("100.0 %     9      9                                              "));
  EXPECT_THAT(TextOf("flat", "80"), Not(HasSubstr("waiting")));
}

// Its times are those of the writer's rounds.
TEST(ClockedReportTest, ALogWithoutAClockHasCallsOnly) {
  const std::string log = std::string(kTrace).insert(
      kTrace.find('\n') + 1, "#@\tsession\trecord\tlog\n#@\tsession\tclock\tnone\n");
  for (const auto& row : testing::Rows(log, "flat", {"base", "cum", "elapsed", "max_base"})) {
    EXPECT_THAT(row, ::testing::Each("0"));
  }
  EXPECT_EQ(testing::Rows(log, "flat", {"calls"}).size(), 5u);
}

// `busy` was also called on paths that were dropped: nodes below [pruned] have no callees.
TEST(ClockedReportTest, TotalsOfRoutinesBelowPrunedAreBounds) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n"
      "0\tmain\tenter\ta\n"
      "0\tmain\tenter\tbusy\n"
      "50\tmain\texit\tbusy\n"
      "50\tmain\tenter\t[pruned]\n"
      "50\tmain\tenter\tbusy\n"
      "70\tmain\texit\tbusy\n"
      "70\tmain\texit\t[pruned]\n"
      "90\tmain\texit\ta\n";
  const std::string flat =
      testing::RunPost({"--report=flat", "--width=120", "trace"}, {{"trace", trace}}).out;
  EXPECT_THAT(flat, HasSubstr("70.0 ms  ≥ 70.0 ms  "));
  EXPECT_THAT(flat, HasSubstr("≥ 20.0 ms  ≤ 50.0 ms  busy"));
  EXPECT_THAT(flat, HasSubstr("20.0 ms    20.0 ms  a"));
  EXPECT_THAT(flat, HasSubstr("≥ at least, ≤ at most"));
  const std::string csv =
      testing::RunPost({"--report=flat", "--format=csv", "trace"}, {{"trace", trace}}).out;
  EXPECT_THAT(csv, Not(HasSubstr("≥")));
  EXPECT_THAT(TextOf("flat", "120"), Not(HasSubstr("≥")));
}

}  // namespace
}  // namespace jtrace
