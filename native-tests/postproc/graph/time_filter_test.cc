// The initial filter of a call graph (S4.10).
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "postproc/graph/call_graph.h"

namespace jtrace::postproc {
namespace {

// 1, 2, … count, of 1,000.
double OfFirst(int count) {
  std::vector<int64_t> totals(static_cast<size_t>(count));
  std::iota(totals.begin(), totals.end(), 1);
  return FirstTimeFilter(totals, 1000);
}

TEST(TimeFilterTest, ThirtyFunctionsNeedNoFilter) {
  EXPECT_EQ(FirstTimeFilter({}, 1000), 0);
  EXPECT_EQ(OfFirst(30), 0);
}

TEST(TimeFilterTest, IsTheTotalOfTheThirtiethFunction) {
  EXPECT_DOUBLE_EQ(OfFirst(31), 0.2);  // 2 of 1,000: a step already
  EXPECT_DOUBLE_EQ(OfFirst(130), 10.1);
}

TEST(TimeFilterTest, IsRoundedUpToTheNextStep) {
  std::vector<int64_t> totals(40, 1);
  std::fill_n(totals.begin(), 29, 1300);
  totals[39] = 1234;  // 12.34 % of 10,000
  EXPECT_DOUBLE_EQ(FirstTimeFilter(totals, 10000), 12.4);
  EXPECT_DOUBLE_EQ(FirstTimeFilter(totals, 12340), 10);
}

TEST(TimeFilterTest, EqualFunctionsAreNotRoundedAway) {
  EXPECT_DOUBLE_EQ(FirstTimeFilter(std::vector<int64_t>(32, 1), 32), 3.1);  // of 3.125 %
  EXPECT_EQ(FirstTimeFilter(std::vector<int64_t>(300000, 1), 300000), 0);
  // Two above 40 equal ones are not a useful picture; three are the most expensive ones.
  std::vector<int64_t> totals(40, 25);
  totals.insert(totals.end(), 2, 1000);
  EXPECT_DOUBLE_EQ(FirstTimeFilter(totals, 1001), 2.4);
  totals.push_back(1000);
  EXPECT_DOUBLE_EQ(FirstTimeFilter(totals, 1001), 2.5);
}

TEST(TimeFilterTest, IsAtMostTwentyPercent) {
  EXPECT_EQ(FirstTimeFilter(std::vector<int64_t>(50, 900), 1000), 20);
}

TEST(TimeFilterTest, LeavesOutFunctionsWithoutCost) {
  std::vector<int64_t> totals(1000, 0);
  totals[500] = 100;
  EXPECT_DOUBLE_EQ(FirstTimeFilter(totals, 100), 0.1);
  EXPECT_EQ(FirstTimeFilter(std::vector<int64_t>(1000, 0), 0), 0);
}

}  // namespace
}  // namespace jtrace::postproc
