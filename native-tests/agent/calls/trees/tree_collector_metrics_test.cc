// Metrics by call path: the reports add up to the threads' counts, whatever happens to nodes.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/trees/tree_collector.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

// Two metrics by their numbers; neither is alloc.bytes, which needs a JVM.
constexpr uint32_t kFirst = 10, kSecond = 30;
const PathMetrics kMetrics = {.numbers = {kFirst, kSecond}, .layout = {}};

// Enters and exits at random, counting now and then, also outside of any call.
class Walker {
 public:
  Walker(ProbeDouble& thread, unsigned seed) : thread_(thread), random_(seed) {}

  void Step() {
    if (random_() % 3 == 0) Count();
    const bool enters = tokens_.size() < 8 && random_() % 2 == 0;
    if (enters) {
      const uint32_t routine = random_() % 16 == 0 ? next_routine_++ : 1 + random_() % 4;
      tokens_.push_back(thread_.Enter(routine));
    } else if (!tokens_.empty()) {
      thread_.Exit(tokens_.back());
      tokens_.pop_back();
    }
  }
  void Count() {
    const auto delta = static_cast<int64_t>(random_() % 1000) - 300;  // counters may decrease
    thread_.Count(kFirst, delta);
    thread_.Count(kSecond, 1);
    first_ += static_cast<uint64_t>(delta);
    ++second_;
  }
  uint64_t first() const { return first_; }
  uint64_t second() const { return second_; }

 private:
  ProbeDouble& thread_;
  std::mt19937 random_;
  uint32_t next_routine_ = 100;
  std::vector<uint64_t> tokens_;
  uint64_t first_ = 0, second_ = 0;
};

void ExpectReported(const TreeReader& reader, const Walker& walker) {
  EXPECT_EQ(reader.Metric(0), walker.first());
  EXPECT_EQ(reader.Metric(1), walker.second());
}

TEST(TreeCollectorMetricsTest, NodesGetTheCountsMadeWhileTheyWereCurrent) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.metrics = kMetrics});
  ProbeDouble thread(arena.get(), 1, false, false, kMetrics);
  thread.Count(kFirst, 1);
  const uint64_t root = thread.Enter(5);
  thread.Count(kFirst, 10);
  const uint64_t five = thread.Enter(6);
  thread.Count(kFirst, 100);
  thread.Exit(five);
  thread.Count(kFirst, 1000);
  thread.Exit(root);
  thread.Count(kFirst, 10000);
  TreeReader reader;
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  std::map<std::string, uint64_t> by_path;
  for (const auto& [number, place] : reader.nodes) by_path[place.path] = place.metrics[0];
  EXPECT_EQ(by_path["/5"], 1010u);
  EXPECT_EQ(by_path["/5/6"], 100u);
  EXPECT_EQ((reader.roots[{1, 0}][0]), 10001u) << "including counts that no probe has charged yet";
  EXPECT_EQ(reader.Metric(1), 0u);
}

PathMetrics WithElapsed(TestArena& arena) {
  return {
      .numbers = {kFirst, kFirst + signal_safe::kElapsed}, .layout = {}, .elapsed = arena->elapsed};
}

TEST(TreeCollectorMetricsTest, ElapsedHasWhatAllThreadsDidMeanwhile) {
  TestArena arena;
  const PathMetrics metrics = WithElapsed(arena);
  TreeCollector collector(arena.get(), {.metrics = metrics});
  ProbeDouble waiting(arena.get(), 1, false, false, metrics);
  const uint64_t root = waiting.Enter(5);
  ProbeDouble working(arena.get(), 2, false, false, metrics);
  working.Enter(6);
  working.Count(kFirst, 100);
  working.Charge();
  waiting.Count(kFirst, 1);
  waiting.Exit(root);
  working.Count(kFirst, 1000);
  working.Charge();
  waiting.Count(kFirst, 10);  // not charged when its tree is read, nor known to the other thread
  TreeReader reader;
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  std::map<std::string, uint64_t> own, elapsed;
  for (const auto& [number, place] : reader.nodes) {
    own[place.path] = place.metrics[0];
    elapsed[place.path] = place.metrics[1];
  }
  EXPECT_EQ(own["/5"], 1u);
  EXPECT_EQ(elapsed["/5"], 101u);
  EXPECT_EQ((reader.roots[{1, 0}][1]), 1010u);
  EXPECT_EQ(own["/6"], 1100u);
  EXPECT_EQ(elapsed["/6"], 1101u);
}

// Each thread's elapsed counts, however they are spread over its nodes, are those of all threads.
TEST(TreeCollectorMetricsTest, ElapsedOfAThreadIsTheSumOverAll) {
  TestArena arena;
  const PathMetrics metrics = WithElapsed(arena);
  TreeCollector collector(arena.get(), {.metrics = metrics});
  ProbeDouble one(arena.get(), 1, false, false, metrics);
  ProbeDouble two(arena.get(), 2, false, false, metrics);
  Walker first(one, 1), second(two, 2);
  std::mt19937 random(3);
  TreeReader reader;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 50; ++i) (random() % 2 == 0 ? first : second).Step();
    one.Charge();
    two.Charge();
    one.Charge();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
    EXPECT_EQ(reader.Metric(0), first.first() + second.first());
    EXPECT_EQ(reader.Metric(1), 2 * (first.first() + second.first()));
  }
}

// With a clock or without; every collection reports everything, in old nodes and new ones.
TEST(TreeCollectorMetricsTest, EveryCollectionReportsAll) {
  for (const bool has_clock : {false, true}) {
    TestArena arena;
    const ClockScale scale = ClockScale::Nanoseconds();
    TreeCollector collector(arena.get(), {.clock = has_clock ? signal_safe::ProbeClock::kCoarse
                                                             : signal_safe::ProbeClock::kNone,
                                          .scale = has_clock ? &scale : nullptr,
                                          .metrics = kMetrics});
    ProbeDouble thread(arena.get(), 1, false, has_clock, kMetrics);
    Walker walker(thread, 3);
    TreeReader reader;
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 50; ++i) walker.Step();
      collector.Poll();
      collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
      ExpectReported(reader, walker);
    }
    walker.Count();
    thread.Charge();
    thread.End();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
    ExpectReported(reader, walker);
  }
}

TEST(TreeCollectorMetricsTest, PrunedNodesLeaveTheirMetrics) {
  TestArena arena;
  TreeCollector collector(
      arena.get(), {.limits = {.arena_bytes = 300 * sizeof(signal_safe::Node), .prune_percent = 1},
                    .metrics = kMetrics});
  ProbeDouble thread(arena.get(), 1, false, false, kMetrics);
  Walker walker(thread, 5);
  TreeReader reader;
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 400; ++i) walker.Step();
    thread.Prune();
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  }
  collector.ReportAll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  EXPECT_GT(collector.pruned_nodes(), 100u);
  ExpectReported(reader, walker);
}

TEST(TreeCollectorMetricsTest, GroupsHaveTheSumOfTheirMembers) {
  TestArena arena;
  TreeCollector collector(arena.get(),
                          {.group_of = [](uint64_t, bool) { return 7; }, .metrics = kMetrics});
  TreeReader reader;
  uint64_t first = 0, second = 0;
  for (uint64_t tid = 1; tid <= 500; ++tid) {
    ProbeDouble thread(arena.get(), tid, true, false, kMetrics);
    Walker walker(thread, static_cast<unsigned>(tid));
    for (int i = 0; i < 60; ++i) {
      walker.Step();
      if (i == 30 && tid % 5 == 0) {
        collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
      }
    }
    first += walker.first();
    second += walker.second();
    thread.Charge();
    thread.End();
    collector.Poll();
  }
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  EXPECT_EQ(reader.Metric(0), first);
  EXPECT_EQ(reader.Metric(1), second);
}

// A new file reports the counts since the last one, of a thread's own tree and of a group's.
TEST(TreeCollectorMetricsTest, AFileReportsItsOwnCounts) {
  for (const uint32_t group : {0u, 7u}) {
    TestArena arena;
    TreeCollector collector(
        arena.get(), {.group_of = [group](uint64_t, bool) { return group; }, .metrics = kMetrics});
    ProbeDouble thread(arena.get(), 1, false, false, kMetrics);
    Walker walker(thread, 11);
    uint64_t first = 0, second = 0;
    for (int file = 0; file < 20; ++file) {
      TreeReader reader;
      for (int i = 0; i < 30; ++i) walker.Step();
      collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
      for (int i = 0; i < 30; ++i) walker.Step();
      collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
      first += reader.Metric(0);
      second += reader.Metric(1);
      EXPECT_EQ(first, walker.first());
      EXPECT_EQ(second, walker.second());
      collector.BeginFile();
    }
  }
}

// S5.6: threads continue while they are read.
TEST(TreeCollectorMetricsTest, NothingIsLostWhileThreadsRun) {
  TestArena arena(1 << 28);
  TreeCollector collector(arena.get(), {.metrics = kMetrics});
  TreeReader reader;
  std::atomic<uint64_t> first{0}, second{0};
  std::atomic<int> running{8};
  std::vector<std::vector<std::unique_ptr<ProbeDouble>>> lives(8);
  std::vector<std::thread> workers;
  for (int w = 0; w < 8; ++w) {
    workers.emplace_back([&, w] {
      for (int life = 0; life < 10; ++life) {
        // The collector may look at its block until the end: in a JVM its owner must not end
        // before.
        auto made = std::make_unique<ProbeDouble>(
            arena.get(), static_cast<uint64_t>(w * 100 + life + 1), false, false, kMetrics);
        ProbeDouble& thread = *made;
        lives[static_cast<size_t>(w)].push_back(std::move(made));
        Walker walker(thread, static_cast<unsigned>(w * 31 + life));
        for (int i = 0; i < 300; ++i) walker.Step();
        first += walker.first();
        second += walker.second();
        thread.Charge();
        thread.End();
      }
      --running;
    });
  }
  while (running > 0) {
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  }
  for (std::thread& worker : workers) worker.join();
  collector.Poll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  EXPECT_EQ(reader.Metric(0), first.load());
  EXPECT_EQ(reader.Metric(1), second.load());
}

}  // namespace
}  // namespace jtrace::calls
