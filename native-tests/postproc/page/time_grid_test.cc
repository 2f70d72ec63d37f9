// The heatmap's grid: round columns, few of them, and each time in one cell.
#include <gtest/gtest.h>

#include <limits>

#include "postproc/page/page_times.h"

namespace jtrace::postproc {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

Timeline TimelineTo(int64_t first, int64_t last) {
  Timeline timeline;
  for (const int64_t time : {first, last}) timeline.OnSample({time, ThreadId(1)}, SampleRecord());
  return timeline;
}

int64_t ColumnOf(double seconds) {
  const Timeline timeline = TimelineTo(0, static_cast<int64_t>(seconds * kSecond));
  return TimeGrid(timeline, kSecond).cell_width() * static_cast<int64_t>(TimeGrid::kRows);
}

TEST(TimeGridTest, AColumnIsASecondOrAnotherRoundTime) {
  EXPECT_EQ(ColumnOf(0.9), kSecond / 50);
  EXPECT_EQ(ColumnOf(8), kSecond / 5);
  EXPECT_EQ(ColumnOf(45), kSecond);
  EXPECT_EQ(ColumnOf(250), kSecond);
  EXPECT_EQ(ColumnOf(590), 2 * kSecond);
  EXPECT_EQ(ColumnOf(1400), 5 * kSecond);
}

TEST(TimeGridTest, CellsFollowEachOtherFromTheFirstSampleOn) {
  const TimeGrid grid(TimelineTo(3 * kSecond, 48 * kSecond), kSecond);
  EXPECT_EQ(grid.start(), 3 * kSecond);
  EXPECT_EQ(grid.cell_width(), kSecond / 50);
  EXPECT_EQ(grid.CellAt(3 * kSecond), 0);
  EXPECT_EQ(grid.CellAt(4 * kSecond - 1), 49);
  EXPECT_EQ(grid.CellAt(4 * kSecond), 50);
  EXPECT_EQ(grid.CellAt(48 * kSecond), 45 * 50);
  EXPECT_LT(grid.CellAt(48 * kSecond), grid.cells());
}

TEST(TimeGridTest, WithoutSecondsColumnsAreRound) {
  const TimeGrid grid(TimelineTo(0, 100'000), 0);
  EXPECT_EQ(grid.cell_width() * static_cast<int64_t>(TimeGrid::kRows), 2000);
}

TEST(TimeGridTest, AbsurdTimesHaveCells) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t second : {int64_t{0}, int64_t{1}, kSecond}) {
    const TimeGrid grid(TimelineTo(kMost, kLeast), second);
    EXPECT_GT(grid.cell_width(), 0);
    EXPECT_LE(grid.cells(), TimeGrid::kMostColumns * TimeGrid::kRows);
    EXPECT_EQ(grid.CellAt(kLeast), 0);
    EXPECT_LT(grid.CellAt(kMost), grid.cells());
  }
}

}  // namespace
}  // namespace jtrace::postproc
