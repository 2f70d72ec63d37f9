#include "agent/trace/event_rate_limiter.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

proto::Chunk Sealed(EventRateLimiter& events) {
  proto::Chunk chunk;
  events.AddChanges(0, chunk);
  return chunk;
}

TEST(LimitedEventsTest, CountsAllAndLimitsRecordsPerSecond) {
  Losses losses;
  EventRateLimiter events(losses);
  constexpr uint64_t kLimit = EventRateLimiter::kRecordsASecond;
  uint64_t recorded = 0;
  for (uint64_t i = 0; i < 3 * kLimit; ++i) {
    recorded += events.Count(Code::kWait, 5 * kSecond + i) ? 1 : 0;
  }
  EXPECT_EQ(recorded, kLimit);
  EXPECT_TRUE(events.Count(Code::kWait, 6 * kSecond));
  EXPECT_TRUE(events.Count(Code::kContended, 5 * kSecond));
  events.Ended(Code::kWait, 40);
  events.Ended(Code::kWait, 2);

  const proto::Chunk chunk = Sealed(events);
  ASSERT_EQ(chunk.code_total_size(), 2);
  const proto::CodeTotal& wait = chunk.code_total(1);
  EXPECT_EQ(wait.major(), format::kMonitor);
  EXPECT_EQ(wait.minor(), format::kMonitorWait);
  EXPECT_EQ(wait.count(), 3 * kLimit + 1);
  EXPECT_EQ(wait.recorded(), kLimit + 1);
  EXPECT_EQ(wait.total_ns(), 42u);
  ASSERT_EQ(losses.Snapshot().size(), 1u);
  EXPECT_EQ(losses.Snapshot()[0].count, 2 * kLimit);
}

TEST(LimitedEventsTest, EachFileHasItsOwnTotals) {
  Losses losses;
  EventRateLimiter events(losses);
  for (int i = 0; i < 3; ++i) events.Count(Code::kWait, kSecond);
  events.Ended(Code::kWait, 40);
  EXPECT_EQ(Sealed(events).code_total(0).count(), 3u);
  events.BeginFile();
  EXPECT_EQ(Sealed(events).code_total_size(), 0);
  events.Count(Code::kWait, kSecond);
  events.Ended(Code::kWait, 2);
  const proto::Chunk second = Sealed(events);
  ASSERT_EQ(second.code_total_size(), 1);
  EXPECT_EQ(second.code_total(0).count(), 1u);
  EXPECT_EQ(second.code_total(0).recorded(), 1u);
  EXPECT_EQ(second.code_total(0).total_ns(), 2u);
}

// A thread that reads byte by byte must not hide what others do.
TEST(LimitedEventsTest, IoHasMoreRoom) {
  Losses losses;
  EventRateLimiter events(losses);
  uint64_t recorded = 0;
  for (uint64_t i = 0; i < 2 * EventRateLimiter::kIoRecordsASecond; ++i) {
    recorded += events.Count(Code::kRead, kSecond + i) ? 1 : 0;
  }
  EXPECT_EQ(recorded, EventRateLimiter::kIoRecordsASecond);
  EXPECT_TRUE(events.Count(Code::kWrite, kSecond));
}

TEST(LimitedEventsTest, ManyThreadsShareTheLimit) {
  Losses losses;
  EventRateLimiter events(losses);
  std::atomic<uint64_t> recorded{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        if (events.Count(Code::kAllocation, kSecond)) recorded.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorded.load(), EventRateLimiter::kRecordsASecond);
  EXPECT_EQ(Sealed(events).code_total(0).count(), 40'000u);
}

TEST(LimitedEventsTest, SilentIfNothingHappened) {
  Losses losses;
  EventRateLimiter events(losses);
  events.Count(Code::kClassPrepare, 0);
  events.Reset();
  EXPECT_EQ(Sealed(events).code_total_size(), 0);
  EXPECT_TRUE(losses.Snapshot().empty());
}

}  // namespace
}  // namespace jtrace::trace
