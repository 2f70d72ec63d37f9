// Records, controls and times of a log, in the order in which they were written.
#include "agent/calls/logs/log_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "native-tests/agent/calls/logs/log_double.h"
#include "native-tests/agent/calls/logs/log_reading.h"

namespace jtrace::calls {
namespace {

using signal_safe::LogRecordKind;
using signal_safe::ProbeClock;
using ::testing::ElementsAre;
using testing::Enter;
using testing::Exit;
using testing::LogDouble;
using testing::Visited;

using LogCollectorTest = testing::LogReading;

TEST_F(LogCollectorTest, RecordsKeepTheirOrderWhenTheRingWraps) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  std::mt19937 random(1);
  std::vector<uint32_t> written;
  Visited read;
  for (int round = 0; round < 500; ++round) {
    for (unsigned left = random() % 70; left > 0 && log.HasRoom(); --left) {
      log.Enter(1 + written.size() % 1000);
      written.push_back(Enter(1 + written.size() % 1000));
    }
    collector.Poll(std::ref(read));
  }
  EXPECT_EQ(read.ops, written);
  EXPECT_GT(written.size(), 10u * 64);
  EXPECT_EQ(collector.events(), written.size());
  EXPECT_EQ(collector.calls(), written.size());
  EXPECT_TRUE(read.times.empty());
}

// Records that need only be copied are read in another way, up to the next other record, hole or
// end of the ring.
TEST_F(LogCollectorTest, RecordsOfOneFileKeepTheirOrderAndMarks) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  collector.BeginRecording(/*follow=*/false);
  std::mt19937 random(1);
  std::vector<uint32_t> written;
  std::vector<uint64_t> controls;
  Visited read;
  for (int round = 0; round < 500; ++round) {
    for (unsigned left = random() % 70; left > 0 && log.HasRoom(); --left) {
      const unsigned kind = random() % 10;
      if (kind == 0) {
        log.Control(LogRecordKind::kAt, controls.emplace_back(1 + controls.size()));
      } else if (kind == 1) {
        log.Hole();
      } else {
        log.Enter(1 + written.size() % 1000);
        written.push_back(Enter(1 + written.size() % 1000));
      }
    }
    collector.Poll(std::ref(read));
  }
  log.Enter(7);
  written.push_back(Enter(7));
  collector.Poll(std::ref(read));
  EXPECT_EQ(read.ops, written);
  EXPECT_EQ(collector.events(), written.size());
  std::vector<uint64_t> seen;
  for (const auto& control : read.controls) seen.push_back(control.value);
  EXPECT_EQ(seen, controls);
}

// With a producer that runs all the time nothing is lost, torn or seen twice.
TEST_F(LogCollectorTest, ReadsWhileTheThreadWrites) {
  constexpr uint32_t kRecords = 300'000;
  const uint64_t start = scale_.Now();
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 1024, start);
  LogCollector collector(arena_.get(), ProbeClock::kNano, scale_);
  std::thread producer([&] {
    for (uint32_t i = 1; i <= kRecords; ++i) {
      while (!log.HasRoom()) std::this_thread::yield();
      log.Enter(i, start + i);
    }
  });
  Visited read;
  while (read.ops.size() < kRecords) collector.Poll(std::ref(read));
  producer.join();
  for (uint32_t i = 0; i < kRecords; ++i) {
    ASSERT_EQ(read.ops[i], Enter(i + 1));
    ASSERT_EQ(read.times[i], start + i + 1);
  }
}

TEST_F(LogCollectorTest, AHoleIsSkippedOnceARecordFollowsIt) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  log.Enter(1);
  log.Hole();
  EXPECT_THAT(Poll(collector).ops, ElementsAre(Enter(1)));
  log.Exit(1);
  EXPECT_THAT(Poll(collector).ops, ElementsAre(Exit(1)));
}

// A recursion that repeatedly reaches the end of its stack.
TEST_F(LogCollectorTest, ManyHolesInARowAreSkippedToo) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 40; ++i) log.Hole();
    EXPECT_TRUE(Poll(collector).ops.empty());
    log.Enter(1);
    EXPECT_THAT(Poll(collector).ops, ElementsAre(Enter(1)));
  }
}

TEST_F(LogCollectorTest, MarksAreBetweenTheirRecords) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  log.Enter(1);
  log.Control(LogRecordKind::kAt, 0x7fffffff);
  log.Control(LogRecordKind::kDropped, 12);
  log.Control(LogRecordKind::kAt, 5);
  log.Exit(1);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.ops, ElementsAre(Enter(1), Exit(1)));
  EXPECT_THAT(visited.controls, ElementsAre(Visited::Control{1, LogRecordKind::kAt, 0x7fffffff, 0},
                                            Visited::Control{1, LogRecordKind::kDropped, 12, 0},
                                            Visited::Control{1, LogRecordKind::kAt, 5, 0}));
  EXPECT_EQ(collector.dropped_calls(), 12u);
}

// 40 bits of the clock suffice: the rest follows from the record before.
TEST_F(LogCollectorTest, TimesContinueWhenTheirLowBitsWrap) {
  const uint64_t wrap = uint64_t{1} << 40;
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, 3 * wrap - 10);
  LogCollector collector(arena_.get(), ProbeClock::kNano, scale_);
  log.Enter(1, (3 * wrap - 5) % wrap);
  log.Exit(1, 7);
  log.Control(LogRecordKind::kTime, 20);
  log.Control(LogRecordKind::kAt, 9);
  log.Control(LogRecordKind::kOff, 1000);
  log.Control(LogRecordKind::kOff, 500);  // what the record before had no room for
  log.Enter(2, 30);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.times, ElementsAre(3 * wrap - 5, 3 * wrap + 7, 3 * wrap + 30));
  EXPECT_THAT(visited.controls,
              ElementsAre(Visited::Control{2, LogRecordKind::kAt, 9, 3 * wrap + 20},
                          Visited::Control{2, LogRecordKind::kOff, 1500, 0}));
}

TEST_F(LogCollectorTest, CoarseTimesAddUpInMicroseconds) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, 5000);
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  log.Enter(1);
  log.Control(LogRecordKind::kTime, 106);
  log.Exit(1);
  EXPECT_THAT(Poll(collector).times, ElementsAre(5000u, 106'000u));
}

// An exception may cut a probe off anywhere between its records: the next one begins again.
TEST_F(LogCollectorTest, RepeatedCoarseTimesMeanTheSame) {
  constexpr uint64_t kLow = uint64_t{1} << signal_safe::kOpBits;
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, (kLow - 5) * 1000);
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  log.Control(LogRecordKind::kTimeHigh, 1);
  log.Control(LogRecordKind::kAt, thread_.state()->root);
  log.Control(LogRecordKind::kTimeHigh, 1);
  for (int i = 0; i < 2; ++i) log.Control(LogRecordKind::kTime, 3);
  log.Enter(1);
  const Visited visited = Poll(collector);
  EXPECT_EQ(visited.controls.front().time, (kLow - 5) * 1000);
  EXPECT_THAT(visited.times, ElementsAre((kLow + 3) * 1000));
}

// Time off is recorded before the record that ends the interval, which may not be there yet.
TEST_F(LogCollectorTest, TimeOffTheProcessorsWaitsForItsRecord) {
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, 1000);
  LogCollector collector(arena_.get(), ProbeClock::kCpu, scale_);
  log.Enter(1, 1100);
  log.Control(LogRecordKind::kOff, 400);
  EXPECT_TRUE(Poll(collector).controls.empty());
  log.Control(LogRecordKind::kAt, thread_.state()->root);
  log.Exit(1, 1600);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.controls,
              ElementsAre(Visited::Control{0, LogRecordKind::kAt, thread_.state()->root, 1100},
                          Visited::Control{0, LogRecordKind::kOff, 400, 0}));
  EXPECT_THAT(visited.since, ElementsAre(1100u));
}

}  // namespace
}  // namespace jtrace::calls
