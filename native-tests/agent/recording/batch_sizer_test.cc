#include "agent/recording/batch_sizer.h"

#include "gtest/gtest.h"

namespace jtrace {
namespace {

using absl::Milliseconds;
using absl::ZeroDuration;

TEST(BatchPaceTest, GrowsWhileTheCompilersRest) {
  BatchSizer pace(500);
  EXPECT_EQ(pace.classes(), 8u);
  for (size_t expected : {16u, 32u, 64u, 128u}) {
    pace.After(pace.classes(), Milliseconds(1));
    EXPECT_EQ(pace.classes(), expected);
  }
}

TEST(BatchPaceTest, ShrinksWhenTheyHaveMuchToDo) {
  BatchSizer pace(60);
  pace.After(8, Milliseconds(300));
  EXPECT_EQ(pace.classes(), 4u);
  pace.After(4, Milliseconds(60));  // as much as it should be
  EXPECT_EQ(pace.classes(), 4u);
  for (int i = 0; i < 5; ++i) pace.After(pace.classes(), Milliseconds(300));
  EXPECT_EQ(pace.classes(), 1u);
  pace.After(1, ZeroDuration());
  EXPECT_EQ(pace.classes(), 2u);
}

// A program that compiles all the time does not hold it up for long.
TEST(BatchPaceTest, HasNotManyMoreThanAHundredBatches) {
  BatchSizer pace(128'000);
  EXPECT_EQ(pace.classes(), 1000u);
  pace.After(1000, Milliseconds(2000));
  EXPECT_EQ(pace.classes(), 1000u);
}

TEST(BatchPaceTest, MayHaveNoLimit) {
  EXPECT_GT(BatchSizer::Unlimited().classes(), 1'000'000u);
  EXPECT_EQ(BatchSizer(0).classes(), 8u);
}

// A batch that was smaller, as its classes cost much, says nothing of larger ones.
TEST(BatchPaceTest, GrowsByWhatABatchHad) {
  BatchSizer pace(500);
  pace.After(8, ZeroDuration());
  pace.After(2, ZeroDuration());
  EXPECT_EQ(pace.classes(), 16u);
  pace.After(2, Milliseconds(300));
  EXPECT_EQ(pace.classes(), 3u);
}

}  // namespace
}  // namespace jtrace
