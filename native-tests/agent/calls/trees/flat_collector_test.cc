#include "agent/calls/trees/flat_collector.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::calls {
namespace {

using Row = std::tuple<uint64_t, bool, uint32_t, uint64_t, uint64_t>;

// A thread of record=flat: a state that is followed by counters, in its own chunk.
signal_safe::FlatState* NewFlatState(signal_safe::Arena* arena, uint64_t tid) {
  const uint64_t offset = arena->next;
  arena->next += signal_safe::ChunkBytes(signal_safe::kFlatClass);
  auto* chunk = reinterpret_cast<signal_safe::Chunk*>(reinterpret_cast<uintptr_t>(arena) + offset);
  chunk->size_class = signal_safe::kFlatClass;
  auto* state = reinterpret_cast<signal_safe::FlatState*>(chunk + 1);
  state->state.java_tid = tid;
  state->state.chunks = signal_safe::RefOf(arena, chunk);
  arena->buckets[tid % signal_safe::kBucketCount] = signal_safe::RefOf(arena, state);
  return state;
}

std::vector<Row> Collect(FlatCollector& collector, uint32_t limit) {
  std::vector<Row> rows;
  collector.Collect(limit, [&](const FlatUpdate& update) {
    if (update.routines.empty()) rows.emplace_back(update.java_tid, update.ended, 0, 0, 0);
    for (const RoutineUpdate& r : update.routines) {
      rows.emplace_back(update.java_tid, update.ended, r.routine, r.calls, r.jitted);
    }
  });
  return rows;
}

TEST(FlatCollectorTest, ReportsTotalsOfChangedCounts) {
  testing::TestArena arena;
  FlatCollector collector(arena.get());
  signal_safe::FlatState* one = NewFlatState(arena.get(), 1);
  signal_safe::FlatState* two = NewFlatState(arena.get(), 2);
  one->counters[5] = {3, 4};
  two->counters[5] = {0, 1};
  two->counters[99] = {1, 0};
  EXPECT_EQ(Collect(collector, 99), (std::vector<Row>{{1, false, 5, 7, 4}, {2, false, 5, 1, 1}}));
  ++one->counters[5].jitted;
  EXPECT_EQ(Collect(collector, 100), (std::vector<Row>{{1, false, 5, 8, 5}, {2, false, 99, 1, 0}}));
  EXPECT_EQ(collector.total_calls(), 10u);
}

TEST(FlatCollectorTest, SharedCountersBelongToNoThread) {
  testing::TestArena arena;
  FlatCollector collector(arena.get());
  signal_safe::FlatCounter* shared = arena->shared.counters;
  shared[signal_safe::kFlatIds + 3] = {0, 2};
  EXPECT_EQ(Collect(collector, signal_safe::kFlatIds + 10),
            (std::vector<Row>{{0, false, signal_safe::kFlatIds + 3, 2, 2}}));
}

TEST(FlatCollectorTest, AnEndedThreadIsReportedOnceAndItsCountersAreZeroed) {
  testing::TestArena arena;
  FlatCollector collector(arena.get());
  signal_safe::FlatState* state = NewFlatState(arena.get(), 1);
  state->counters[1] = {1, 1};
  state->counters[200'000] = {1, 1};
  state->state.ended = 1;
  arena->ended = signal_safe::RefOf(arena.get(), state);
  const signal_safe::Ref chunk = state->state.chunks;
  EXPECT_EQ(Collect(collector, 10), (std::vector<Row>{{1, true, 1, 2, 1}}));
  EXPECT_TRUE(Collect(collector, 10).empty());
  EXPECT_EQ(static_cast<signal_safe::Ref>(arena->free[signal_safe::kFlatClass]), chunk);
  EXPECT_EQ(signal_safe::At<signal_safe::Chunk>(arena.get(), chunk)->size_class,
            signal_safe::kFlatClass);
  EXPECT_EQ(state->counters[1].jitted, 0u);
  EXPECT_EQ(state->counters[200'000].jitted, 0u);
}

TEST(FlatCollectorTest, NewFileAndNewRecordingCountFromTheirStart) {
  testing::TestArena arena;
  FlatCollector collector(arena.get());
  signal_safe::FlatState* one = NewFlatState(arena.get(), 1);
  one->counters[5] = {3, 4};
  Collect(collector, 10);
  one->counters[5] = {3, 6};  // not collected yet: belongs to the new file
  collector.BeginFile();
  EXPECT_EQ(Collect(collector, 10), (std::vector<Row>{{1, false, 5, 2, 2}}));
  EXPECT_EQ(collector.file_calls(), 2u);
  one->counters[5] = {4, 6};  // no recording runs
  collector.BeginRecording(10);
  one->counters[5] = {5, 7};
  EXPECT_EQ(Collect(collector, 10), (std::vector<Row>{{1, false, 5, 2, 1}}));
  EXPECT_EQ(collector.total_calls(), 2u);
}

}  // namespace
}  // namespace jtrace::calls
