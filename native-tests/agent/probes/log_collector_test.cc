#include "agent/probes/log_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "native-tests/agent/probes/log_double.h"
#include "native-tests/agent/probes/probe_double.h"

namespace jtrace {
namespace {

using hot::LogKind;
using hot::ProbeClock;
using ::testing::ElementsAre;
using testing::LogDouble;
using testing::ProbeDouble;
using testing::TestArena;

// Everything that was visited, in its order: ops as they are, marks as {kind, value, time}.
struct Visited {
  struct Mark {
    size_t index;
    LogKind kind;
    uint64_t value, time;
    bool operator==(const Mark&) const = default;
  };
  std::vector<uint32_t> ops;
  std::vector<uint64_t> times;
  std::vector<Mark> marks;
  std::vector<uint64_t> since;  // of each run

  void operator()(const LogRun& run) {
    for (const LogMark& mark : run.marks) {
      marks.push_back({ops.size() + mark.index, mark.kind, mark.value, mark.time});
    }
    ops.insert(ops.end(), run.ops.begin(), run.ops.end());
    times.insert(times.end(), run.times.begin(), run.times.end());
    since.push_back(run.since);
  }
};

constexpr uint32_t Enter(uint32_t routine) { return routine << 2; }
constexpr uint32_t Exit(uint32_t routine) { return routine << 2 | 2; }

class LogCollectorTest : public ::testing::Test {
 protected:
  Visited Poll(LogCollector& collector) {
    Visited visited;
    while (collector.Poll(std::ref(visited))) {
    }
    return visited;
  }

  TestArena arena_;
  TickScale scale_ = TickScale::Nanoseconds();
  ProbeDouble thread_{arena_.get(), 7};
};

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
  log.Mark(LogKind::kAt, 0x7fffffff);
  log.Mark(LogKind::kDropped, 12);
  log.Mark(LogKind::kAt, 5);
  log.Exit(1);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.ops, ElementsAre(Enter(1), Exit(1)));
  EXPECT_THAT(visited.marks, ElementsAre(Visited::Mark{1, LogKind::kAt, 0x7fffffff, 0},
                                         Visited::Mark{1, LogKind::kDropped, 12, 0},
                                         Visited::Mark{1, LogKind::kAt, 5, 0}));
  EXPECT_EQ(collector.dropped_calls(), 12u);
}

// 40 bits of the clock suffice: the rest follows from the record before.
TEST_F(LogCollectorTest, TimesContinueWhenTheirLowBitsWrap) {
  const uint64_t wrap = uint64_t{1} << 40;
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, 3 * wrap - 10);
  LogCollector collector(arena_.get(), ProbeClock::kNano, scale_);
  log.Enter(1, (3 * wrap - 5) % wrap);
  log.Exit(1, 7);
  log.Mark(LogKind::kTime, 20);
  log.Mark(LogKind::kAt, 9);
  log.Mark(LogKind::kOff, 1000);
  log.Mark(LogKind::kOff, 500);  // what the record before had no room for
  log.Enter(2, 30);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.times, ElementsAre(3 * wrap - 5, 3 * wrap + 7, 3 * wrap + 30));
  EXPECT_THAT(visited.marks, ElementsAre(Visited::Mark{2, LogKind::kAt, 9, 3 * wrap + 20},
                                         Visited::Mark{2, LogKind::kOff, 1500, 0}));
}

TEST_F(LogCollectorTest, CoarseTimesAddUpInMicroseconds) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, 5000);
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  log.Enter(1);
  log.Mark(LogKind::kTime, 106);
  log.Exit(1);
  EXPECT_THAT(Poll(collector).times, ElementsAre(5000u, 106'000u));
}

// An exception may cut a probe off anywhere between its records: the next one begins again.
TEST_F(LogCollectorTest, RepeatedCoarseTimesMeanTheSame) {
  constexpr uint64_t kLow = uint64_t{1} << hot::kOpBits;
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, (kLow - 5) * 1000);
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  log.Mark(LogKind::kTimeHigh, 1);
  log.Mark(LogKind::kAt, thread_.state()->root);
  log.Mark(LogKind::kTimeHigh, 1);
  for (int i = 0; i < 2; ++i) log.Mark(LogKind::kTime, 3);
  log.Enter(1);
  const Visited visited = Poll(collector);
  EXPECT_EQ(visited.marks.front().time, (kLow - 5) * 1000);
  EXPECT_THAT(visited.times, ElementsAre((kLow + 3) * 1000));
}

// Time off is recorded before the record that ends the interval, which may not be there yet.
TEST_F(LogCollectorTest, TimeOffTheProcessorsWaitsForItsRecord) {
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, 1000);
  LogCollector collector(arena_.get(), ProbeClock::kCpu, scale_);
  log.Enter(1, 1100);
  log.Mark(LogKind::kOff, 400);
  EXPECT_TRUE(Poll(collector).marks.empty());
  log.Mark(LogKind::kAt, thread_.state()->root);
  log.Exit(1, 1600);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.marks,
              ElementsAre(Visited::Mark{0, LogKind::kAt, thread_.state()->root, 1100},
                          Visited::Mark{0, LogKind::kOff, 400, 0}));
  EXPECT_THAT(visited.since, ElementsAre(1100u));
}

// A thread that ends in a gap has left everything; one that continues stays where it is.
TEST_F(LogCollectorTest, AGapThatIsOpenAtTheEndIsReported) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  thread_.Enter(1);
  const uint64_t outer = thread_.current_ref();
  thread_.state()->log_gap = thread_.state()->current;
  thread_.Enter(2);
  const uint64_t inner = thread_.current_ref();
  thread_.state()->log_dropped = 3;
  Visited running;
  collector.EndFile(/*is_last=*/true, std::ref(running));
  EXPECT_THAT(running.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, outer, 0},
                                         Visited::Mark{0, LogKind::kDropped, 3, 0},
                                         Visited::Mark{0, LogKind::kAt, inner, 0}));
  Visited ended;
  collector.Finish(*thread_.state(), std::ref(ended));
  EXPECT_EQ(ended.marks.back(), (Visited::Mark{0, LogKind::kAt, thread_.state()->root, 0}));
}

// The thread continues counting after the report, and reports the whole gap at its end.
TEST_F(LogCollectorTest, CallsOfAGapAreReportedOnce) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  thread_.Enter(1);
  thread_.state()->log_gap = thread_.state()->current;
  thread_.state()->log_dropped = 3;
  const auto nowhere = [](const LogRun&) {};
  collector.EndFile(/*is_last=*/true, nowhere);
  thread_.state()->log_dropped = 5;
  collector.EndFile(/*is_last=*/true, nowhere);
  EXPECT_EQ(collector.dropped_calls(), 5u);

  thread_.state()->log_dropped = 9;
  collector.BeginRecording(/*follow=*/true);
  log.Mark(LogKind::kDropped, 7);  // in two parts
  log.Mark(LogKind::kDropped, 6);
  thread_.state()->log_gap = thread_.state()->log_dropped = 0;
  EXPECT_THAT(Poll(collector).marks,
              ElementsAre(Visited::Mark{0, LogKind::kAt, thread_.current_ref(), 0},
                          Visited::Mark{0, LogKind::kDropped, 0, 0},
                          Visited::Mark{0, LogKind::kDropped, 4, 0}));
  log.Mark(LogKind::kDropped, 2);
  Poll(collector);
  EXPECT_EQ(collector.dropped_calls(), 6u);
}

// Earlier records belong to no recording, but calls from that time may still run.
TEST_F(LogCollectorTest, ARecordingBeginsAtTheThreadsPosition) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  thread_.Enter(1);
  thread_.FillSlots();
  log.Enter(1);
  collector.StopLogs();
  collector.BeginRecording(/*follow=*/true);
  EXPECT_EQ(arena_->log_stopped, 0u);
  EXPECT_EQ(collector.events(), 0u);
  log.Enter(2);
  const Visited visited = Poll(collector);
  EXPECT_THAT(visited.ops, ElementsAre(Enter(2)));
  EXPECT_THAT(visited.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, thread_.current_ref(), 0}));
  log.Exit(2);
  EXPECT_TRUE(Poll(collector).marks.empty());
}

TEST_F(LogCollectorTest, ARecordingOfOneFileLocatesThreadsThatStandStill) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  collector.BeginRecording(/*follow=*/false);
  thread_.Enter(1);
  log.Enter(1);
  collector.BeginRecording(/*follow=*/false);
  log.Enter(2);
  EXPECT_THAT(Poll(collector).marks,
              ElementsAre(Visited::Mark{0, LogKind::kAt, thread_.current_ref(), 0}));
}

// The file changes while the thread is far ahead of its reader.
TEST_F(LogCollectorTest, AFileBeginsAtThePositionOfItsFirstRecord) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  std::vector<uint64_t> nodes;
  for (const uint32_t routine : {4u, 4u, 36u}) {
    thread_.Enter(routine);
    nodes.push_back(thread_.current_ref());
  }
  thread_.FillSlots();
  for (const uint32_t routine : {4u, 4u, 36u}) log.Enter(routine);
  Poll(collector);
  log.Exit(36);
  collector.BeginFile();
  const Visited second = Poll(collector);
  EXPECT_THAT(second.ops, ElementsAre(Exit(36)));
  EXPECT_THAT(second.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, nodes[2], 0}));
  // The outer one's exit was not seen.
  log.Exit(4);
  log.Exit(9);
  Poll(collector);
  log.Enter(4);
  collector.BeginFile();
  const Visited third = Poll(collector);
  EXPECT_THAT(third.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, nodes[0], 0}));
}

TEST_F(LogCollectorTest, ARecordThatDoesNotFitTheTreeGivesNoPositionUntilTheNextOne) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  thread_.Enter(4);
  log.Enter(5);
  log.Enter(4);
  Poll(collector);
  collector.BeginFile();
  log.Mark(LogKind::kAt, thread_.current_ref());
  EXPECT_EQ(Poll(collector).marks.size(), 1u);
  collector.BeginFile();
  log.Exit(4);
  EXPECT_THAT(Poll(collector).marks,
              ElementsAre(Visited::Mark{0, LogKind::kAt, thread_.current_ref(), 0}));
}

// A thread that stays in a call while files begin and end.
TEST_F(LogCollectorTest, TheTimeOfACallIsSplitAmongItsFiles) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, 1000);
  arena_->tick = 1000;
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  thread_.Enter(4);
  thread_.FillSlots();
  const uint64_t node = thread_.current_ref();
  log.Enter(4);
  for (uint64_t file = 1; file <= 3; ++file) {
    arena_->tick = file * 10'000;
    Visited visited;
    collector.EndFile(file == 3, std::ref(visited));
    const uint64_t begin = (file - 1) * 10'000;
    if (file == 1) {
      EXPECT_THAT(visited.marks, ElementsAre(Visited::Mark{1, LogKind::kAt, node, 10'000}));
    } else {
      EXPECT_THAT(visited.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, node, begin},
                                             Visited::Mark{0, LogKind::kAt, node, begin + 10'000}));
    }
    collector.BeginFile();
  }
  log.Mark(LogKind::kTime, 40);
  log.Exit(4);
  const Visited last = Poll(collector);
  EXPECT_THAT(last.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, node, 30'000}));
  EXPECT_THAT(last.times, ElementsAre(40'000u));
}

TEST_F(LogCollectorTest, TheTimeOfAGapIsSplitAmongItsFiles) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 64, 1000);
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  thread_.Enter(4);
  const uint64_t outer = thread_.current_ref();
  thread_.Enter(5);
  const uint64_t inner = thread_.current_ref();
  thread_.FillSlots();
  log.Enter(4);
  log.Enter(5);
  Poll(collector);
  // In a gap since then, in which the inner call ended and began again.
  thread_.state()->log_gap =
      reinterpret_cast<uintptr_t>(hot::At<hot::Node>(arena_.get(), static_cast<hot::Ref>(outer)));
  thread_.state()->log_dropped = 3;
  arena_->tick = 10'000;
  Visited first;
  collector.EndFile(/*is_last=*/false, std::ref(first));
  EXPECT_THAT(first.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, outer, 1000},
                                       Visited::Mark{0, LogKind::kDropped, 3, 10'000},
                                       Visited::Mark{0, LogKind::kAt, inner, 10'000}));
  collector.BeginFile();
  log.Mark(LogKind::kAt, outer);
  log.Mark(LogKind::kTime, 25);
  log.Mark(LogKind::kDropped, 8);
  log.Mark(LogKind::kAt, inner);
  thread_.state()->log_gap = thread_.state()->log_dropped = 0;
  const Visited second = Poll(collector);
  EXPECT_THAT(second.marks, ElementsAre(Visited::Mark{0, LogKind::kAt, outer, 10'000},
                                        Visited::Mark{0, LogKind::kAt, outer, 10'000},
                                        Visited::Mark{0, LogKind::kDropped, 5, 25'000},
                                        Visited::Mark{0, LogKind::kAt, inner, 25'000}));
}

}  // namespace
}  // namespace jtrace
