#include "agent/calls/trees/tree_collector.h"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/position.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "agent/signal_safe/tree_node.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

class TreeCollectorTest : public ::testing::Test {
 protected:
  void Collect() {
    collector_.Poll();
    collector_.Collect([this](const TreeUpdate& update) { reader_.Read(update); });
  }

  TestArena arena_;
  TreeCollector collector_{arena_.get()};
  TreeReader reader_;
};

TEST_F(TreeCollectorTest, ReportsPathsAndCounts) {
  ProbeDouble thread(arena_.get(), 1);
  const uint64_t a = thread.Enter(10);
  for (int i = 0; i < 3; ++i) thread.Exit(thread.Enter(20, i > 0));
  thread.Exit(a);
  thread.Exit(thread.Enter(20));
  Collect();
  EXPECT_EQ(reader_.Calls(),
            (std::map<std::string, uint64_t>{{"/10", 1}, {"/10/20", 3}, {"/20", 1}}));
  EXPECT_EQ(reader_.nodes[2].jitted, 2u);
  EXPECT_EQ(collector_.total_calls(), 5u);
}

// A program that makes millions of call paths within a second must not cost as much memory again.
TEST(TreeCollectorPartsTest, ALargeTreeIsReportedInParts) {
  for (const uint32_t group : {0, 3}) {
    TestArena arena;
    ProbeDouble thread(arena.get(), 1);
    TreeCollector collector(arena.get(), {.group_of = [&](uint64_t, bool) { return group; },
                                          .limits = {.max_updates = 10}});
    TreeReader reader;
    const uint64_t a = thread.Enter(1);
    for (uint32_t routine = 2; routine < 60; ++routine) {
      const uint64_t b = thread.Enter(routine);
      thread.Exit(thread.Enter(routine + 1));
      thread.Exit(b);
    }
    thread.Exit(a);
    thread.End();
    int visits = 0;
    collector.Collect([&](const TreeUpdate& update) {
      ++visits;
      EXPECT_EQ(update.group, group);
      EXPECT_LE(update.nodes.size(), 12u);
      reader.Read(update);
    });
    EXPECT_EQ(visits, 12) << "group " << group;
    uint64_t calls = 0;
    for (const auto& [path, count] : reader.Calls()) calls += count;
    EXPECT_EQ(calls, thread.calls());
    EXPECT_EQ(collector.total_calls(), thread.calls());
    EXPECT_EQ(reader.ends[1], group == 0 ? 1 : 0);
  }
}

TEST_F(TreeCollectorTest, ReportsOnlyChangedNodes) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Exit(thread.Enter(10));
  thread.Exit(thread.Enter(20));
  Collect();
  Collect();
  thread.Exit(thread.Enter(20));
  int visits = 0;
  collector_.Collect([&](const TreeUpdate& update) {
    ++visits;
    ASSERT_EQ(update.nodes.size(), 1u);
    EXPECT_EQ(update.nodes[0].routine, 20u);
    EXPECT_FALSE(update.nodes[0].is_new);
    EXPECT_EQ(update.nodes[0].calls, 2u);
  });
  EXPECT_EQ(visits, 1);
}

// Ten stretches of nodes that were called once, and a first one in which something is called again.
class QuietNodesTest : public TreeCollectorTest {
 protected:
  static constexpr uint32_t kNodes = 10 * NodeReadBackoff::kRunNodes;
  static constexpr uint32_t kLate = 5 * NodeReadBackoff::kRunNodes;

  QuietNodesTest() {
    for (uint32_t routine = 1; routine <= kNodes; ++routine) Call(routine);
    for (int round = 0; round < 12; ++round) {
      Call(1);
      Collect();
    }
  }
  void Call(uint32_t routine) { thread_.Exit(thread_.Enter(routine)); }
  uint64_t Calls(uint32_t routine) { return reader_.Calls()["/" + std::to_string(routine)]; }
  void Collect() {
    collector_.Poll();
    collector_.Collect([this](const TreeUpdate& update) { reader_.Read(update); });
  }

  ProbeDouble thread_{arena_.get(), 1};
  TreeCollector collector_{arena_.get(), {.limits = {.quiet_from = kNodes}}};
};

TEST_F(QuietNodesTest, AreLookedAtInEveryEighthRound) {
  EXPECT_EQ(Calls(1), 13u);
  int rounds = 0, left_out = 0;
  for (; rounds < 16; ++rounds) {
    Call(kLate);
    Call(1);
    const uint64_t before = Calls(kLate);
    Collect();
    EXPECT_EQ(Calls(1), 14u + static_cast<uint64_t>(rounds));
    if (Calls(kLate) != before) break;
    ++left_out;
  }
  EXPECT_GT(left_out, 0);
  EXPECT_LT(left_out, 8);
  // From now on it is not quiet.
  Call(kLate);
  Collect();
  EXPECT_EQ(Calls(kLate), 3u + static_cast<uint64_t>(rounds));
}

TEST_F(QuietNodesTest, NewNodesAreSeenAtOnce) {
  for (uint32_t routine = kNodes + 1; routine < kNodes + 100; ++routine) Call(routine);
  Collect();
  EXPECT_EQ(Calls(kNodes + 99), 1u);
}

TEST_F(QuietNodesTest, AreReportedWhenSomebodyReadsTheTrace) {
  Collect();  // a round in which it rests
  Call(kLate);
  collector_.ReadAll();
  Collect();
  EXPECT_EQ(Calls(kLate), 2u);
  Collect();
  Call(kLate);
  collector_.ReportAll();
  Collect();
  EXPECT_EQ(Calls(kLate), 3u);
}

TEST_F(QuietNodesTest, AreReportedWhenTheThreadEnds) {
  Collect();
  Call(kLate);
  thread_.End();
  Collect();
  EXPECT_EQ(Calls(kLate), 2u);
  EXPECT_EQ(collector_.total_calls(), thread_.calls());
}

// In a later file a node is defined again.
TEST_F(QuietNodesTest, AreDefinedWhenASampleNamesThem) {
  const uint64_t late = thread_.Enter(kLate);
  const uint64_t ref = thread_.current_ref();
  thread_.Exit(late);
  collector_.ReportAll();
  Collect();
  for (int round = 0; round < 12; ++round) Collect();
  collector_.BeginFile();
  reader_ = TreeReader();
  Collect();
  const uint32_t number = collector_.NumberOf(ref);
  Collect();
  EXPECT_TRUE(reader_.nodes.contains(number));
}

TEST_F(TreeCollectorTest, ThreadsWithEqualBucketsStaySeparate) {
  ProbeDouble one(arena_.get(), 7), other(arena_.get(), 7 + signal_safe::kBucketCount);
  one.Exit(one.Enter(1));
  other.Exit(other.Enter(1));
  std::map<uint64_t, size_t> nodes;
  collector_.Collect(
      [&](const TreeUpdate& update) { nodes[update.java_tid] = update.nodes.size(); });
  EXPECT_EQ(nodes, (std::map<uint64_t, size_t>{{7, 1}, {7 + signal_safe::kBucketCount, 1}}));
}

TEST_F(TreeCollectorTest, ASampledNodeKeepsItsNumber) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Enter(10);
  thread.Enter(20);
  const uint32_t number = collector_.NumberOf(thread.current_ref());
  Collect();
  ASSERT_TRUE(reader_.nodes.contains(number));
  EXPECT_EQ(reader_.nodes[number].path, "/10/20");
  EXPECT_EQ(collector_.NumberOf(thread.current_ref()), number);
}

// The parent gets slots as the probes make them: a power of two, and a table after many.
TEST_F(TreeCollectorTest, FindsChildrenInSlotsAndTables) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Enter(10);
  auto* parent = signal_safe::At<signal_safe::Node>(arena_.get(), thread.current_ref());
  const uint64_t raw_parent = thread.current_ref();
  // Both want the same slot.
  constexpr uint32_t kSlots = signal_safe::kMaxMask / sizeof(uint64_t) + 1;
  constexpr uint32_t kFirst = 33, kSecond = kFirst + kSlots;
  std::map<uint32_t, uint64_t> entries;
  for (const uint32_t routine : {kFirst, kSecond}) {
    const uint64_t token = thread.Enter(routine);
    entries[routine] = uint64_t{thread.current_ref()} << 32 | routine;
    thread.Exit(token);
  }
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, kFirst), 0u) << "no slots yet";
  std::vector<uint64_t> slots(kSlots + 1, reinterpret_cast<uintptr_t>(&arena_->sink_node));
  slots[kSlots] = 0;
  parent->mask = signal_safe::kMaxMask;
  parent->slots = reinterpret_cast<uintptr_t>(slots.data());
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, kFirst), 0u) << "a free slot";
  slots[kFirst % kSlots] = reinterpret_cast<uintptr_t>(signal_safe::At<signal_safe::Node>(
      arena_.get(), static_cast<signal_safe::Ref>(entries[kFirst] >> 32)));
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, kSecond), 0u) << "no table yet";
  slots[kFirst % kSlots + 1] = reinterpret_cast<uintptr_t>(signal_safe::At<signal_safe::Node>(
      arena_.get(), static_cast<signal_safe::Ref>(entries[kSecond] >> 32)));
  EXPECT_NE(collector_.NumberOfChild(raw_parent, kSecond), 0u) << "in the next slot";
  slots[kFirst % kSlots + 1] = reinterpret_cast<uintptr_t>(&arena_->tombstone);
  // Of four, in memory that is still free.
  auto* table = reinterpret_cast<signal_safe::ChildTable*>(thread.state()->bump);
  table->mask = 3;
  for (uint64_t& entry : std::span(table->slots, 4)) entry = uint64_t{1} << 32 | 7;
  slots[kSlots] = signal_safe::RefOf(arena_.get(), table);
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, kSecond), 0u) << "a full table of others";
  table->slots[2] = entries[kSecond];
  Collect();
  EXPECT_EQ(reader_.nodes[collector_.NumberOfChild(raw_parent, kFirst)].path, "/10/33");
  EXPECT_EQ(reader_.nodes[collector_.NumberOfChild(raw_parent, kSecond)].path,
            "/10/" + std::to_string(kSecond));
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, 99), 0u) << "never called";
  EXPECT_EQ(collector_.NumberOfChild(0, kFirst), 0u) << "no node";
  // Dropped slots begin with a link, which names no node.
  slots[kFirst % kSlots] = uint64_t{1} << 32 | (kSlots - 1);
  EXPECT_EQ(collector_.NumberOfChild(raw_parent, kFirst), 0u);
}

TEST_F(TreeCollectorTest, AnInvalidNodeHasNumberZero) {
  ProbeDouble thread(arena_.get(), 1);
  EXPECT_EQ(collector_.NumberOf(thread.current_ref()), 0u) << "root";
  EXPECT_EQ(collector_.NumberOf(0), 0u);
  EXPECT_EQ(collector_.NumberOf(signal_safe::RefOf(arena_.get(), &arena_->sink_node)), 0u);
  EXPECT_EQ(collector_.NumberOf(~uint64_t{0}), 0u);
  EXPECT_EQ(collector_.NumberOf(arena_->next >> signal_safe::kGranuleShift), 0u);
}

// 20,000 threads one after another in memory for a few; every path is reported exactly once a
// thread.
TEST_F(TreeCollectorTest, EndedThreadsAreReportedOnceAndTheirMemoryIsReused) {
  uint64_t used_early = 0;
  for (uint64_t tid = 1; tid <= 20'000; ++tid) {
    ProbeDouble thread(arena_.get(), tid);
    for (uint32_t routine = 1; routine <= 10; ++routine) thread.Enter(routine);
    thread.End();
    if (tid % 10 == 0) Collect();
    if (tid == 100) used_early = ArenaBytesUsed(*arena_.get());
  }
  Collect();
  EXPECT_EQ(ArenaBytesUsed(*arena_.get()), used_early);
  EXPECT_EQ(collector_.total_calls(), 200'000u);
  EXPECT_EQ(reader_.ends.size(), 20'000u);
  for (const auto& [tid, count] : reader_.ends) ASSERT_EQ(count, 1) << tid;
  const auto calls = reader_.Calls();
  EXPECT_EQ(calls.size(), 10u);
  EXPECT_EQ(calls.at("/1/2/3"), 20'000u);
}

TEST_F(TreeCollectorTest, EndedThreadsLeaveTheirBucketAtAnyPosition) {
  std::vector<std::unique_ptr<ProbeDouble>> threads;
  for (uint64_t i = 0; i < 5; ++i) {
    threads.push_back(
        std::make_unique<ProbeDouble>(arena_.get(), 3 + i * signal_safe::kBucketCount));
  }
  for (int i : {4, 2, 0}) threads[i]->End();
  Collect();
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(
        signal_safe::FindThreadState(arena_.get(), 3 + i * signal_safe::kBucketCount) != nullptr,
        i % 2 == 1);
  }
}

// Eight writers start and end in the same few buckets while the collector runs (TSan checks it).
TEST_F(TreeCollectorTest, CollectsWhileThreadsRun) {
  constexpr int kWriters = 8, kLives = 50, kRounds = 200;
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int life = 0; life < kLives; ++life) {
        ProbeDouble probe(arena_.get(),
                          1 + w % 2 + (life * kWriters + w) * signal_safe::kBucketCount);
        for (int round = 0; round < kRounds; ++round) {
          const uint64_t token = probe.Enter(1 + round % 7);
          probe.Exit(probe.Enter(1 + round % 3, true));
          probe.Exit(token);
        }
        probe.End();
      }
      --running;
    });
  }
  while (running > 0) Collect();
  for (std::thread& writer : writers) writer.join();
  Collect();
  EXPECT_EQ(collector_.total_calls(), uint64_t{kWriters} * kLives * kRounds * 2);
  uint64_t sum = 0;
  for (const auto& [path, calls] : reader_.Calls()) sum += calls;
  EXPECT_EQ(sum, collector_.total_calls());
}

TEST(ReadPositionTest, FollowsTheThread) {
  TestArena arena;
  EXPECT_FALSE(signal_safe::ReadPosition(5).known) << "no probes";
  signal_safe::published_arena = arena.get();
  EXPECT_TRUE(signal_safe::ReadPosition(5).known);
  EXPECT_EQ(signal_safe::ReadPosition(5).node, 0u) << "no probed method entered yet";
  EXPECT_FALSE(signal_safe::ReadPosition(0).known) << "not a Java thread";
  ProbeDouble thread(arena.get(), 5);
  const uint64_t token = thread.Enter(9);
  TreeCollector collector(arena.get());
  EXPECT_EQ(collector.NumberOf(signal_safe::ReadPosition(5).node), 1u);
  thread.Exit(token);
  EXPECT_EQ(collector.NumberOf(signal_safe::ReadPosition(5).node), 0u) << "back at the root";
  signal_safe::NotifyThreadEnded(arena.get(), 5);
  collector.Collect([](const TreeUpdate& update) { EXPECT_TRUE(update.ended); });
  EXPECT_EQ(signal_safe::FindThreadState(arena.get(), 5), nullptr);
  signal_safe::published_arena = nullptr;
}

// A reader of the files since the last BeginFile knows the counts since then.
TEST_F(TreeCollectorTest, NewFileCountsFromItsStart) {
  ProbeDouble thread(arena_.get(), 1);
  const uint64_t a = thread.Enter(10);
  for (int i = 0; i < 3; ++i) thread.Exit(thread.Enter(20, true));
  thread.Exit(thread.Enter(30));
  Collect();
  thread.Exit(thread.Enter(20, true));  // between the last Collect and the new file: in the new one
  collector_.BeginFile();
  reader_ = TreeReader();
  thread.Exit(thread.Enter(20, true));
  Collect();
  EXPECT_EQ(reader_.Calls(), (std::map<std::string, uint64_t>{{"/10", 0}, {"/10/20", 2}}));
  EXPECT_EQ(collector_.file_calls(), 2u);
  EXPECT_EQ(collector_.total_calls(), 7u);
  thread.Exit(a);
  thread.Exit(thread.Enter(10));
  thread.Exit(thread.Enter(40));
  Collect();
  EXPECT_EQ(reader_.Calls(),
            (std::map<std::string, uint64_t>{{"/10", 1}, {"/10/20", 2}, {"/40", 1}}));
}

TEST_F(TreeCollectorTest, SamplesNameNodesOfEarlierFiles) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Enter(10);
  thread.Enter(20);
  Collect();
  collector_.BeginFile();
  reader_ = TreeReader();
  const uint32_t number = collector_.NumberOf(thread.current_ref());
  Collect();
  ASSERT_TRUE(reader_.nodes.contains(number));
  EXPECT_EQ(reader_.nodes[number].path, "/10/20");
  EXPECT_EQ(reader_.nodes[number].calls, 0u);
}

TEST_F(TreeCollectorTest, NewRecordingForgetsCountsMadeInBetween) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Exit(thread.Enter(10));
  Collect();
  thread.Exit(thread.Enter(10));  // no recording runs
  collector_.BeginRecording();
  reader_ = TreeReader();
  thread.Exit(thread.Enter(10));
  Collect();
  EXPECT_EQ(reader_.Calls(), (std::map<std::string, uint64_t>{{"/10", 1}}));
  EXPECT_EQ(collector_.total_calls(), 1u);
}

}  // namespace
}  // namespace jtrace::calls
