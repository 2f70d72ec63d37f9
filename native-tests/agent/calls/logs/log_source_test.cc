#include "agent/calls/logs/log_source.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/agent/calls/logs/log_double.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "proto/trace_format.h"

namespace jtrace::calls {
namespace {

using signal_safe::LogRecordKind;
using signal_safe::ProbeClock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LogDouble;
using testing::ProbeDouble;
using testing::TestArena;

class LogSourceTest : public ::testing::Test {
 protected:
  LogSource Source(LogCollector& logs, LogSource::Settings settings = {}) {
    return LogSource(clock_, logs, TreeSource(trees_, threads_, groups_, encoder_, losses_, {}),
                     threads_, encoder_, losses_, std::move(settings));
  }
  static std::vector<uint32_t> Ops(const proto::EventLog& log) {
    return {log.op().begin(), log.op().end()};
  }
  static std::vector<uint64_t> Deltas(const proto::EventLog& log) {
    return {log.delta_ns().begin(), log.delta_ns().end()};
  }

  TestArena arena_;
  ClockScale scale_ = ClockScale::Nanoseconds();
  ProbeDouble thread_{arena_.get(), 7};
  TreeCollector trees_{arena_.get()};
  RecordingClock clock_;
  trace::RecordEncoder encoder_{{}};
  jvm::ThreadTable table_;
  jvm::ThreadRegistry threads_{table_, nullptr, clock_, encoder_};
  jvm::ThreadTreeGroups groups_{threads_, encoder_};
  Losses losses_;
};

TEST_F(LogSourceTest, PositionsNameNodesThatTheSameChunkDefines) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector logs(arena_.get(), ProbeClock::kNone, scale_);
  LogSource source = Source(logs);
  thread_.Enter(4);
  thread_.Enter(5);
  log.Enter(3);
  log.Control(LogRecordKind::kAt, thread_.state()->root);
  log.Control(LogRecordKind::kDropped, 6);
  log.Control(LogRecordKind::kAt, thread_.current_ref());
  log.Exit(5);
  proto::Chunk chunk;
  source.Poll(chunk);
  source.AddChanges(clock_.Now(), chunk);
  ASSERT_EQ(chunk.log_size(), 1);
  const uint32_t node = trees_.NumberOf(thread_.current_ref());
  EXPECT_NE(node, 0u);
  EXPECT_THAT(Ops(chunk.log(0)), ElementsAre(3 << 2, format::kLogPosition, 0, format::kLogDropped,
                                             12, format::kLogPosition, node, 5 << 2 | 2));
  EXPECT_THAT(Deltas(chunk.log(0)), IsEmpty());
  ASSERT_EQ(chunk.tree_size(), 1);
  int32_t number = 0;
  bool is_defined = false;
  for (const int32_t delta : chunk.tree(0).new_node()) {
    number += delta;
    is_defined |= static_cast<uint32_t>(number) == node;
  }
  EXPECT_TRUE(is_defined);
}

TEST_F(LogSourceTest, EveryOpAndValueHasATime) {
  const uint64_t start = clock_.start();
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, start);
  LogCollector logs(arena_.get(), ProbeClock::kNano, scale_);
  LogSource source = Source(logs);
  log.Enter(3, start + 100);
  log.Control(LogRecordKind::kTime, start + 150);
  log.Control(LogRecordKind::kAt, thread_.state()->root);
  log.Enter(3, start + 180);
  proto::Chunk chunk;
  source.Poll(chunk);
  ASSERT_EQ(chunk.log_size(), 1);
  EXPECT_EQ(chunk.log(0).time_ns(), 100u);
  EXPECT_THAT(Deltas(chunk.log(0)), ElementsAre(0u, 50u, 0u, 30u));
}

// codes=-0x11.
TEST_F(LogSourceTest, TimesOffTheProcessorsAreEventsIfRequested) {
  for (const bool wanted : {true, false}) {
    const uint64_t start = clock_.start();
    LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, start);
    LogCollector logs(arena_.get(), ProbeClock::kCpu, scale_);
    LogSource source = Source(logs, {.budget = 0, .switches = wanted});
    log.Enter(3, start + 100);
    log.Control(LogRecordKind::kOff, 400);
    log.Exit(3, start + 600);
    proto::Chunk chunk;
    source.Poll(chunk);
    ASSERT_EQ(chunk.event_size(), wanted ? 2 : 0);
    if (!wanted) continue;
    EXPECT_EQ(chunk.event(0).minor(), format::kSwitch | format::kEnd);
    EXPECT_EQ(chunk.event(1).minor(), format::kSwitch);
    EXPECT_EQ(chunk.event(1).time_ns() - chunk.event(0).time_ns(), 400u);
  }
}

// Nor a position, which has the time of the record before it.
TEST_F(LogSourceTest, TimeOffTheProcessorsInAGapIsRecordedInTheGap) {
  const uint64_t start = clock_.start();
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64, start);
  LogCollector logs(arena_.get(), ProbeClock::kCpu, scale_);
  LogSource source = Source(logs);
  const uint32_t root = thread_.state()->root;
  log.Enter(3, start + 100);
  log.Control(LogRecordKind::kAt, root);
  log.Control(LogRecordKind::kOff, 400);
  log.Control(LogRecordKind::kTime, start + 600);
  log.Control(LogRecordKind::kDropped, 1);
  log.Control(LogRecordKind::kOff, 40);
  log.Control(LogRecordKind::kAt, root);
  log.Enter(3, start + 700);
  proto::Chunk chunk;
  source.Poll(chunk);
  std::vector<uint64_t> times;
  for (const proto::Event& event : chunk.event()) times.push_back(event.time_ns());
  EXPECT_THAT(times, ElementsAre(199u, 599u, 659u, 699u));
}

TEST_F(LogSourceTest, ASpentBudgetStopsTheLogsOnce) {
  LogCollector logs(arena_.get(), ProbeClock::kNone, scale_);
  LogSource source = Source(logs, {.budget = 1000, .switches = true});
  proto::Chunk chunk;
  source.OnFileSizeChanged(999);
  source.AddChanges(1, chunk);
  EXPECT_EQ(arena_->log_stopped, 0u);
  source.OnFileSizeChanged(1000);
  source.AddChanges(2, chunk);
  EXPECT_EQ(arena_->log_stopped, 1u);
  const auto rows = losses_.Snapshot();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "log.budget_spent");
}

TEST_F(LogSourceTest, WaitsOfThreadsAreReportedByFile) {
  LogCollector logs(arena_.get(), ProbeClock::kNone, scale_);
  LogSource source = Source(logs);
  arena_->log_waited = 2'500'000;
  proto::Chunk chunk;
  source.AddChanges(1, chunk);
  source.BeginFile();
  arena_->log_waited += 1'000'000;
  arena_->log_waits = static_cast<uint64_t>(signal_safe::FullLogPolicy::kStalled);
  source.AddChanges(2, chunk);
  const auto rows = losses_.Snapshot();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "log.waited");
  EXPECT_EQ(rows[0].count, 1u);
  EXPECT_EQ(rows[1].name, "log.waits_ended");
}

// Memory of logs that were written is used again, and nothing that was in it.
TEST_F(LogSourceTest, WrittenLogsBecomeNewOnes) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector logs(arena_.get(), ProbeClock::kNone, scale_);
  LogSource source = Source(logs);
  log.Enter(3);
  log.Enter(4);
  proto::Chunk chunk;
  source.Poll(chunk);
  ASSERT_EQ(chunk.log_size(), 1);
  const proto::EventLog* const first = &chunk.log(0);
  source.Recycle(chunk);
  EXPECT_EQ(chunk.log_size(), 0);
  log.Exit(4);
  proto::Chunk next;
  source.Poll(next);
  ASSERT_EQ(next.log_size(), 1);
  EXPECT_EQ(&next.log(0), first);
  ASSERT_EQ(next.log(0).op_size(), 1);
  EXPECT_EQ(next.log(0).op(0), 4u << 2 | 2u);
}

// loop=: each file reports its own.
TEST_F(LogSourceTest, CallsLeftOutCountInTheFileThatReportsThem) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector logs(arena_.get(), ProbeClock::kNone, scale_);
  LogSource source = Source(logs);
  proto::Chunk chunk;
  const auto reported = [&](uint32_t calls) -> uint64_t {
    if (calls != 0) log.Control(LogRecordKind::kDropped, calls);
    source.Poll(chunk);
    source.AddChanges(clock_.Now(), chunk);
    const auto rows = losses_.Snapshot();
    return rows.empty() ? 0 : rows[0].count;
  };
  EXPECT_EQ(reported(6), 6u);
  source.BeginFile();
  EXPECT_EQ(reported(0), 0u);
  EXPECT_EQ(reported(4), 4u);
  EXPECT_EQ(logs.dropped_calls(), 10u);
}

}  // namespace
}  // namespace jtrace::calls
