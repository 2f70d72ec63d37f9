// Every count of the timeline is kept, in the bucket of its time, however the range grows.
#include "postproc/calltree/timeline.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace jtrace::postproc {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void Sample(Timeline& timeline, int64_t time, int64_t weight,
            SampleState state = SampleState::kRunning) {
  SampleRecord sample;
  sample.weight = weight;
  sample.state = state;
  timeline.OnSample({time, ThreadId(1)}, sample);
}

int64_t Sum(const Timeline& timeline, Series series) {
  int64_t sum = 0;
  for (size_t i = 0; i < timeline.size(); ++i) sum += timeline.value(series, i);
  return sum;
}

TEST(TimelineTest, IsEmptyWithoutRecords) { EXPECT_EQ(Timeline().size(), 0U); }

TEST(TimelineTest, PutsEachCountWhereItBelongs) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Timeline timeline;
    std::vector<int64_t> times;
    const int64_t range = int64_t{1} << (random() % 40);
    for (int i = 0; i < 200; ++i) {
      times.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(2 * range)) - range);
      Sample(timeline, times.back(), 1);
    }
    std::vector<int64_t> expected(timeline.size());
    for (const int64_t time : times) {
      const int64_t bucket = (time - timeline.start()) / timeline.width();
      ASSERT_GE(time, timeline.start());
      ASSERT_LT(bucket, static_cast<int64_t>(expected.size()));
      ++expected[static_cast<size_t>(bucket)];
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(timeline.value(Series::kRunning, i), expected[i]);
    }
  }
}

TEST(TimelineTest, DistinguishesRunningFromWaiting) {
  Timeline timeline;
  Sample(timeline, 5, 2);
  Sample(timeline, 6, 3, SampleState::kParked);
  SampleRecord unwind;
  unwind.is_unwind = true;
  timeline.OnSample({7, ThreadId(1)}, unwind);
  EXPECT_EQ(Sum(timeline, Series::kRunning), 2);
  EXPECT_EQ(Sum(timeline, Series::kWaiting), 3);
}

TEST(TimelineTest, SpreadsCollectionsOverTheirTime) {
  Timeline timeline;
  Sample(timeline, 0, 1);
  timeline.OnNotice({100, ThreadId()}, "gc-begin", {"Young"});
  timeline.OnNotice({5000, ThreadId()}, "gc-end", {"Young"});
  Sample(timeline, 1'000'000, 1);
  EXPECT_EQ(Sum(timeline, Series::kGc), 4900);
  ASSERT_EQ(timeline.collections().size(), 1U);
  EXPECT_EQ(timeline.collections()[0].begin, 100);
  EXPECT_EQ(timeline.collections()[0].end, 5000);
  EXPECT_EQ(timeline.collections()[0].what, "Young");
}

TEST(TimelineTest, KeepsAFewCollectionsAndCountsTheOthers) {
  Timeline timeline;
  const int64_t more = 3;
  for (int64_t i = 0; i < static_cast<int64_t>(Timeline::kMaxCollections) + more; ++i) {
    timeline.OnNotice({i * 10, ThreadId()}, "gc-begin", {});
    timeline.OnNotice({i * 10 + 1, ThreadId()}, "gc-end", {});
  }
  timeline.OnNotice({kMost, ThreadId()}, "gc-end", {});  // nothing is open
  EXPECT_EQ(timeline.collections().size(), Timeline::kMaxCollections);
  EXPECT_EQ(timeline.collections_left_out(), more);
}

TEST(TimelineTest, AcceptsTheWholeRangeOfTimes) {
  Timeline timeline;
  for (const int64_t time : {int64_t{0}, kLeast, kMost, int64_t{-1}, kLeast + 1}) {
    Sample(timeline, time, 1);
  }
  timeline.OnNotice({kLeast, ThreadId()}, "gc-begin", {});
  timeline.OnNotice({kMost, ThreadId()}, "gc-end", {});
  EXPECT_EQ(Sum(timeline, Series::kRunning), 5);
}

}  // namespace
}  // namespace jtrace::postproc
