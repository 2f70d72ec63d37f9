// Logs at the borders of gaps, recordings and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "agent/calls/logs/log_collector.h"
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

using LogCollectorFilesTest = testing::LogReading;

// A thread that ends in a gap has left everything; one that continues stays where it is.
TEST_F(LogCollectorFilesTest, AGapThatIsOpenAtTheEndIsReported) {
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
  EXPECT_THAT(running.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, outer, 0},
                                            Visited::Control{0, LogRecordKind::kDropped, 3, 0},
                                            Visited::Control{0, LogRecordKind::kAt, inner, 0}));
  Visited ended;
  collector.Finish(*thread_.state(), std::ref(ended));
  EXPECT_EQ(ended.controls.back(),
            (Visited::Control{0, LogRecordKind::kAt, thread_.state()->root, 0}));
}

// The thread continues counting after the report, and reports the whole gap at its end.
TEST_F(LogCollectorFilesTest, CallsOfAGapAreReportedOnce) {
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
  log.Control(LogRecordKind::kDropped, 7);  // in two parts
  log.Control(LogRecordKind::kDropped, 6);
  thread_.state()->log_gap = thread_.state()->log_dropped = 0;
  EXPECT_THAT(Poll(collector).controls,
              ElementsAre(Visited::Control{0, LogRecordKind::kAt, thread_.current_ref(), 0},
                          Visited::Control{0, LogRecordKind::kDropped, 0, 0},
                          Visited::Control{0, LogRecordKind::kDropped, 4, 0}));
  log.Control(LogRecordKind::kDropped, 2);
  Poll(collector);
  EXPECT_EQ(collector.dropped_calls(), 6u);
}

// Only while somebody reads the logs.
TEST_F(LogCollectorFilesTest, ThreadsMayWaitUntilTheLastFileEnds) {
  const auto waits = [&] { return static_cast<signal_safe::FullLogPolicy>(arena_->log_waits); };
  const auto none = [](const LogRun&) {};
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  collector.BeginRecording(/*follow=*/false);
  EXPECT_EQ(waits(), signal_safe::FullLogPolicy::kDrop);
  collector.LetThreadsWait();
  EXPECT_EQ(waits(), signal_safe::FullLogPolicy::kWait);
  collector.EndFile(/*is_last=*/false, none);
  EXPECT_EQ(waits(), signal_safe::FullLogPolicy::kWait);
  collector.EndFile(/*is_last=*/true, none);
  EXPECT_EQ(waits(), signal_safe::FullLogPolicy::kDrop);
}

TEST_F(LogCollectorFilesTest, AThreadMayEndTheWaits) {
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  collector.LetThreadsWait();
  EXPECT_FALSE(collector.stalled());
  arena_->log_waits =
      static_cast<uint64_t>(signal_safe::FullLogPolicy::kStalled);  // as a thread does
  EXPECT_TRUE(collector.stalled());
  collector.EndFile(/*is_last=*/true, [](const LogRun&) {});
  EXPECT_EQ(arena_->log_waits, 0u);
  EXPECT_TRUE(collector.stalled()) << "the last chunk is yet to report it";
  collector.BeginRecording(/*follow=*/false);
  EXPECT_FALSE(collector.stalled());
}

// Earlier records belong to no recording, but calls from that time may still run.
TEST_F(LogCollectorFilesTest, ARecordingBeginsAtTheThreadsPosition) {
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
  EXPECT_THAT(visited.controls,
              ElementsAre(Visited::Control{0, LogRecordKind::kAt, thread_.current_ref(), 0}));
  log.Exit(2);
  EXPECT_TRUE(Poll(collector).controls.empty());
}

TEST_F(LogCollectorFilesTest, ARecordingOfOneFileLocatesThreadsThatStandStill) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  collector.BeginRecording(/*follow=*/false);
  thread_.Enter(1);
  log.Enter(1);
  collector.BeginRecording(/*follow=*/false);
  log.Enter(2);
  EXPECT_THAT(Poll(collector).controls,
              ElementsAre(Visited::Control{0, LogRecordKind::kAt, thread_.current_ref(), 0}));
}

// The file changes while the thread is far ahead of its reader.
TEST_F(LogCollectorFilesTest, AFileBeginsAtThePositionOfItsFirstRecord) {
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
  EXPECT_THAT(second.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, nodes[2], 0}));
  // The outer one's exit was not seen.
  log.Exit(4);
  log.Exit(9);
  Poll(collector);
  log.Enter(4);
  collector.BeginFile();
  const Visited third = Poll(collector);
  EXPECT_THAT(third.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, nodes[0], 0}));
}

TEST_F(LogCollectorFilesTest, ARecordThatDoesNotFitTheTreeGivesNoPositionUntilTheNextOne) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  thread_.Enter(4);
  log.Enter(5);
  log.Enter(4);
  Poll(collector);
  collector.BeginFile();
  log.Control(LogRecordKind::kAt, thread_.current_ref());
  EXPECT_EQ(Poll(collector).controls.size(), 1u);
  collector.BeginFile();
  log.Exit(4);
  EXPECT_THAT(Poll(collector).controls,
              ElementsAre(Visited::Control{0, LogRecordKind::kAt, thread_.current_ref(), 0}));
}

// A thread that stays in a call while files begin and end.
TEST_F(LogCollectorFilesTest, TheTimeOfACallIsSplitAmongItsFiles) {
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
      EXPECT_THAT(visited.controls,
                  ElementsAre(Visited::Control{1, LogRecordKind::kAt, node, 10'000}));
    } else {
      EXPECT_THAT(visited.controls,
                  ElementsAre(Visited::Control{0, LogRecordKind::kAt, node, begin},
                              Visited::Control{0, LogRecordKind::kAt, node, begin + 10'000}));
    }
    collector.BeginFile();
  }
  log.Control(LogRecordKind::kTime, 40);
  log.Exit(4);
  const Visited last = Poll(collector);
  EXPECT_THAT(last.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, node, 30'000}));
  EXPECT_THAT(last.times, ElementsAre(40'000u));
}

TEST_F(LogCollectorFilesTest, TheTimeOfAGapIsSplitAmongItsFiles) {
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
  thread_.state()->log_gap = reinterpret_cast<uintptr_t>(
      signal_safe::At<signal_safe::Node>(arena_.get(), static_cast<signal_safe::Ref>(outer)));
  thread_.state()->log_dropped = 3;
  arena_->tick = 10'000;
  Visited first;
  collector.EndFile(/*is_last=*/false, std::ref(first));
  EXPECT_THAT(first.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, outer, 1000},
                                          Visited::Control{0, LogRecordKind::kDropped, 3, 10'000},
                                          Visited::Control{0, LogRecordKind::kAt, inner, 10'000}));
  collector.BeginFile();
  log.Control(LogRecordKind::kAt, outer);
  log.Control(LogRecordKind::kTime, 25);
  log.Control(LogRecordKind::kDropped, 8);
  log.Control(LogRecordKind::kAt, inner);
  thread_.state()->log_gap = thread_.state()->log_dropped = 0;
  const Visited second = Poll(collector);
  EXPECT_THAT(second.controls, ElementsAre(Visited::Control{0, LogRecordKind::kAt, outer, 10'000},
                                           Visited::Control{0, LogRecordKind::kAt, outer, 10'000},
                                           Visited::Control{0, LogRecordKind::kDropped, 5, 25'000},
                                           Visited::Control{0, LogRecordKind::kAt, inner, 25'000}));
}

}  // namespace
}  // namespace jtrace::calls
