#include "agent/events/unpark_table.h"

#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace jtrace::events {
namespace {

constexpr int32_t kLatch = 11;

Unpark By(uint32_t thread, int32_t object = 0, std::vector<WaitInterval> intervals = {}) {
  return {.by = {.thread = thread}, .object = object, .intervals = std::move(intervals)};
}

// Thread 1 opens a latch at 100 and unparks thread 2 there, which unparks 3, which unparks 4.
TEST(WaitPartsTest, EachWaiterOfALatchWaitedForTheOneThatOpenedIt) {
  const std::vector<WaitInterval> second = IntervalsOf(By(1), kLatch, 10, 100);
  EXPECT_EQ(CauseOfLongest(second, 10).thread, 1u);
  const std::vector<WaitInterval> third = IntervalsOf(By(2, kLatch, second), kLatch, 20, 103);
  ASSERT_EQ(third.size(), 2u);
  EXPECT_EQ(CauseOfLongest(third, 20).thread, 1u);
  const std::vector<WaitInterval> fourth = IntervalsOf(By(3, kLatch, third), kLatch, 30, 107);
  ASSERT_EQ(fourth.size(), 3u);
  EXPECT_EQ(CauseOfLongest(fourth, 30).thread, 1u);
}

// Thread 1 has a lock until 50, thread 2 until 200, and thread 3 until 210. Thread 3 waits from 20
// on, thread 4 from 60 on: it never waited for thread 1.
TEST(WaitPartsTest, EachOwnerOfALockHasItsPart) {
  const std::vector<WaitInterval> second = IntervalsOf(By(1), kLatch, 10, 50);
  const std::vector<WaitInterval> third = IntervalsOf(By(2, kLatch, second), kLatch, 20, 200);
  EXPECT_EQ(CauseOfLongest(third, 20).thread, 2u);
  const std::vector<WaitInterval> fourth = IntervalsOf(By(3, kLatch, third), kLatch, 60, 210);
  ASSERT_EQ(fourth.size(), 2u);
  EXPECT_EQ(fourth[0].by.thread, 2u);
  EXPECT_EQ(CauseOfLongest(fourth, 60).thread, 2u);
}

TEST(WaitPartsTest, WaitsOnOtherObjectsAreOthersBusiness) {
  const std::vector<WaitInterval> idle = IntervalsOf(By(1), 77, 0, 90);
  EXPECT_EQ(CauseOfLongest(IntervalsOf(By(2, 77, idle), kLatch, 0, 100), 0).thread, 2u);
  EXPECT_EQ(CauseOfLongest(IntervalsOf(By(2, 0, idle), 0, 0, 100), 0).thread, 2u)
      << "without an object";
}

TEST(WaitPartsTest, AWaitOfNoTimeHasAReleaser) {
  EXPECT_EQ(CauseOfLongest(IntervalsOf(By(5), kLatch, 40, 40), 40).thread, 5u);
}

TEST(WaitPartsTest, TheOldestOfManyPartsAreForgotten) {
  std::vector<WaitInterval> intervals;
  for (uint32_t i = 1; i < 500; ++i) {
    intervals = IntervalsOf(By(i, kLatch, intervals), kLatch, 0, i);
    ASSERT_LE(intervals.size(), 64u);
  }
  EXPECT_EQ(intervals.back().by.thread, 499u);
}

TEST(UnparkTableTest, TheFirstUnparkSinceTheLastParkCounts) {
  UnparkTable table;
  table.Add(7, By(1));
  table.Add(7, By(2));
  ASSERT_TRUE(table.Remove(7).has_value());
  EXPECT_FALSE(table.Remove(7).has_value()) << "one permit";
  table.Add(7, By(3));
  const std::optional<Unpark> unpark = table.Remove(7);
  ASSERT_TRUE(unpark.has_value());
  EXPECT_EQ(unpark->by.thread, 3u);
}

TEST(UnparkTableTest, ThreadsAreDistinguished) {
  UnparkTable table;
  // In one shard.
  table.Add(7, By(1));
  table.Add(7 + UnparkTable::kShards, By(2));
  EXPECT_EQ(table.Remove(7 + UnparkTable::kShards)->by.thread, 2u);
  EXPECT_EQ(table.Remove(7)->by.thread, 1u);
  EXPECT_FALSE(table.Remove(8).has_value());
}

TEST(UnparkTableTest, ThreadsThatNeverParkAgainTakeLittleMemory) {
  UnparkTable table;
  for (uint64_t i = 0; i <= UnparkTable::kMaxInShard; ++i) {
    table.Add(i * UnparkTable::kShards, By(1));
  }
  EXPECT_FALSE(table.Remove(0).has_value()) << "forgotten, not guessed";
  EXPECT_TRUE(table.Remove(UnparkTable::kMaxInShard * UnparkTable::kShards).has_value());
  table.Add(3, By(1));
  table.Clear();
  EXPECT_FALSE(table.Remove(3).has_value());
}

}  // namespace
}  // namespace jtrace::events
