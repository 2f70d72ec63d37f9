#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "agent/calls/logs/log_collector.h"
#include "agent/calls/trees/log_rings.h"
#include "agent/calls/trees/memory_recyclers.h"
#include "agent/calls/trees/tree_collector.h"
#include "native-tests/agent/calls/logs/log_double.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::calls {
namespace {

using signal_safe::LogRecordKind;
using signal_safe::ProbeClock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LogDouble;
using testing::ProbeDouble;
using testing::TestArena;

constexpr uint64_t kRingBytes = signal_safe::ChunkBytes(signal_safe::kFirstRingClass);

class RingChainTest : public ::testing::Test {
 protected:
  struct Read {
    std::vector<uint32_t> ops;
    std::vector<std::pair<LogRecordKind, uint64_t>> controls;
    std::vector<uint64_t> control_times;
  };
  LogCollector::Visit Into(Read& read) {
    visit_ = [&read](const LogRun& run) {
      read.ops.insert(read.ops.end(), run.ops.begin(), run.ops.end());
      for (const LogControl& control : run.controls) {
        read.controls.emplace_back(control.kind, control.value);
        read.control_times.push_back(control.time);
      }
    };
    return visit_;
  }
  Read Poll(LogCollector& collector) {
    Read read;
    collector.Poll(Into(read));
    return read;
  }
  int FreeChunks() {
    int count = 0;
    for (auto ref = static_cast<signal_safe::Ref>(arena_->free[signal_safe::kFirstRingClass]);
         ref != 0; ref = signal_safe::At<signal_safe::Chunk>(arena_.get(), ref)->next) {
      ++count;
    }
    return count;
  }

  TestArena arena_;
  ClockScale scale_ = ClockScale::Nanoseconds();
  ProbeDouble thread_{arena_.get(), 7};
  std::function<void(const LogRun&)> visit_;
};

constexpr uint32_t Enter(uint32_t routine) { return routine << 2; }

TEST_F(RingChainTest, RecordsKeepTheirOrderThroughAllRings) {
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  std::mt19937 random(1);
  LogDouble<uint32_t> log(arena_.get(), thread_.state(), 16);
  std::vector<uint32_t> written;
  Read read;
  for (int step = 0; step < 20'000; ++step) {
    if (log.HasRoom()) {
      written.push_back(Enter(1 + random() % 1000));
      log.Enter(written.back() >> 2);
    }
    if (random() % 50 == 0 && arena_->log_small < 20 * kRingBytes) log.Grow(8 + random() % 100);
    if (random() % 60 == 0) collector.Poll(Into(read));
  }
  collector.Poll(Into(read));
  EXPECT_EQ(read.ops, written);
  EXPECT_GT(written.size(), 5000u);
  EXPECT_EQ(arena_->log_small, kRingBytes) << "all but the last are released";
  EXPECT_EQ(FreeChunks() * kRingBytes, arena_->next - signal_safe::kFirstChunk - kRingBytes - 2048);
}

TEST_F(RingChainTest, ReadsWhileTheThreadChangesRings) {
  constexpr uint32_t kRecords = 25'000;
  LogDouble<uint64_t> log(arena_.get(), thread_.state(), 64);
  LogCollector collector(arena_.get(), ProbeClock::kNano, scale_);
  std::atomic<bool> done{false};
  std::thread producer([&] {
    std::mt19937 random(1);
    for (uint32_t i = 1; i <= kRecords; ++i) {
      if (random() % 4 == 0 && arena_->next + kRingBytes < arena_->limit) {
        log.Grow(64 + random() % 200);
      }
      while (!log.HasRoom()) std::this_thread::yield();
      log.Enter(i, i);
    }
    done = true;
  });
  Read read;
  while (!done) collector.Poll(Into(read));
  producer.join();
  collector.Poll(Into(read));
  ASSERT_EQ(read.ops.size(), kRecords);
  for (uint32_t i = 0; i < kRecords; ++i) ASSERT_EQ(read.ops[i], Enter(i + 1));
}

// A StackOverflowError between the stores of a change, or of the last record before it.
TEST_F(RingChainTest, AChangeThatIsCutOffLosesNothing) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  log.Enter(1);
  log.Hole();
  log.Grow(64, /*cut=*/true);
  EXPECT_THAT(Poll(collector).ops, ElementsAre(Enter(1)));
  EXPECT_THAT(Poll(collector).ops, IsEmpty());
  log.Grow(64);
  log.Enter(2);
  EXPECT_THAT(Poll(collector).ops, ElementsAre(Enter(2)));
}

TEST_F(RingChainTest, AGapIsOpenAsLongAsTheNextRingIsEmpty) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  const signal_safe::Ref root = thread_.state()->root;
  log.Enter(1);
  thread_.Enter(1);
  thread_.state()->log_gap = thread_.state()->current;
  thread_.state()->log_dropped = 3;
  log.Grow(64);
  Read first;
  collector.EndFile(/*is_last=*/false, Into(first));
  EXPECT_THAT(first.controls, ElementsAre(std::pair(LogRecordKind::kAt, thread_.current_ref()),
                                          std::pair(LogRecordKind::kDropped, 3u),
                                          std::pair(LogRecordKind::kAt, thread_.current_ref())));
  collector.BeginFile();
  log.Control(LogRecordKind::kDropped, 8);
  log.Control(LogRecordKind::kAt, root);
  thread_.state()->log_gap = thread_.state()->log_dropped = 0;
  EXPECT_THAT(Poll(collector).controls,
              ElementsAre(std::pair(LogRecordKind::kAt, thread_.current_ref()),
                          std::pair(LogRecordKind::kDropped, 5u),
                          std::pair(LogRecordKind::kAt, uint64_t{root})));
  EXPECT_EQ(collector.dropped_calls(), 8u);
}

TEST_F(RingChainTest, AThreadThatEndsReleasesItsRingsAtOnce) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  LogCollector collector(arena_.get(), ProbeClock::kNone, scale_);
  log.Enter(1);
  log.Grow(64);
  log.Enter(2);
  thread_.End();
  EXPECT_THAT(Poll(collector).ops, ElementsAre(Enter(1), Enter(2)));
  EXPECT_EQ(arena_->log_small, 0u);
  EXPECT_EQ(FreeChunks(), 2);
  Read again;
  collector.Finish(*thread_.state(), Into(again));
  EXPECT_THAT(again.controls, IsEmpty());
  EXPECT_EQ(FreeChunks(), 2);
}

// No reader: the thread ended while nothing was recorded.
TEST_F(RingChainTest, RingsAreReleasedWithTheThreadsMemoryAtTheLatest) {
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  log.Enter(1);
  log.Grow(64);
  thread_.End();
  TreeCollector trees(arena_.get());
  trees.BeginRecording();
  trees.Poll();
  EXPECT_EQ(arena_->log_small, 0u);
  EXPECT_EQ(FreeChunks(), 2);
}

TEST_F(RingChainTest, RingsAreNotTreeMemory) {
  const uint64_t before = ArenaBytesUsed(*arena_.get());
  LogDouble<uint32_t> log(arena_.get(), thread_.state());
  log.Grow(64);
  EXPECT_EQ(ArenaBytesUsed(*arena_.get()), before);
}

// There was no memory: all of the thread's calls are in a gap.
TEST_F(RingChainTest, CallsOfAThreadWithoutARingAreReportedAsLeftOut) {
  LogCollector collector(arena_.get(), ProbeClock::kCoarse, scale_);
  signal_safe::ThreadState& state = *thread_.state();
  const uint64_t root = state.root;
  state.log_time = 5000;
  state.log_gap = state.current;
  state.log_dropped = 3;
  arena_->tick = 20'000;
  EXPECT_THAT(Poll(collector).controls, IsEmpty());
  Read first;
  collector.EndFile(/*is_last=*/false, Into(first));
  EXPECT_THAT(first.controls, ElementsAre(std::pair(LogRecordKind::kAt, root),
                                          std::pair(LogRecordKind::kDropped, 3u),
                                          std::pair(LogRecordKind::kAt, root)));
  EXPECT_THAT(first.control_times, ElementsAre(5000u, 20'000u, 20'000u));
  collector.BeginFile();
  state.log_dropped = 10;
  arena_->tick = 30'000;
  thread_.End();
  const Read second = Poll(collector);
  EXPECT_THAT(second.controls, ElementsAre(std::pair(LogRecordKind::kAt, root),
                                           std::pair(LogRecordKind::kDropped, 7u),
                                           std::pair(LogRecordKind::kAt, root)));
  EXPECT_THAT(second.control_times, ElementsAre(20'000u, 30'000u, 30'000u));
  EXPECT_EQ(collector.dropped_calls(), 10u);
  Poll(collector);
  EXPECT_EQ(collector.dropped_calls(), 10u);
}

}  // namespace
}  // namespace jtrace::calls
