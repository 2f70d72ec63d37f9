#include "agent/probes/tree_collector.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "agent/hot/position.h"
#include "agent/hot/thread_state.h"
#include "native-tests/agent/probes/probe_double.h"

namespace jtrace {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;

// What a reader of the trace would know: it trusts nothing but updates.
struct Reader {
  struct Place {
    std::string path;
    uint64_t calls = 0, jitted = 0, base = 0;
  };
  std::map<uint32_t, Place> nodes;
  std::map<uint64_t, int> ends;
  std::set<uint32_t> pruned;

  void Read(const TreeUpdate& update) {
    for (const NodeUpdate& node : update.nodes) {
      EXPECT_EQ(node.is_new, !nodes.contains(node.node)) << node.node;
      EXPECT_FALSE(pruned.contains(node.node)) << "numbers are not used again";
      if (node.is_new) {
        EXPECT_TRUE(node.parent == 0 || nodes.contains(node.parent)) << "child before parent";
        nodes[node.node].path = nodes[node.parent].path + "/" + std::to_string(node.routine);
      }
      Place& place = nodes[node.node];
      if (node.pruned) {
        EXPECT_EQ(node.calls, 0u);
        place.calls = place.jitted = place.base = 0;
        pruned.insert(node.node);
        continue;
      }
      EXPECT_GE(node.calls, place.calls);
      EXPECT_LE(node.jitted, node.calls);
      EXPECT_GE(node.time.base, place.base);
      place.base = node.time.base;
      place.calls = node.calls;
      place.jitted = node.jitted;
    }
    ends[update.java_tid] += update.ended;
  }
  std::map<std::string, uint64_t> Calls() const {
    std::map<std::string, uint64_t> calls;
    for (const auto& [number, place] : nodes) {
      if (number != 0) calls[place.path] += place.calls;
    }
    return calls;
  }
};

class TreeCollectorTest : public ::testing::Test {
 protected:
  void Collect() {
    collector_.Poll();
    collector_.Collect([this](const TreeUpdate& update) { reader_.Read(update); });
  }

  TestArena arena_;
  TreeCollector collector_{arena_.get()};
  Reader reader_;
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

TEST_F(TreeCollectorTest, ReportsOnlyWhatChanged) {
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

TEST_F(TreeCollectorTest, ThreadsWithEqualBucketsAreApart) {
  ProbeDouble one(arena_.get(), 7), other(arena_.get(), 7 + hot::kBucketCount);
  one.Exit(one.Enter(1));
  other.Exit(other.Enter(1));
  std::map<uint64_t, size_t> nodes;
  collector_.Collect(
      [&](const TreeUpdate& update) { nodes[update.java_tid] = update.nodes.size(); });
  EXPECT_EQ(nodes, (std::map<uint64_t, size_t>{{7, 1}, {7 + hot::kBucketCount, 1}}));
}

TEST_F(TreeCollectorTest, ASampledNodeKeepsItsNumber) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Enter(10);
  thread.Enter(20);
  const uint32_t number = collector_.TraceNode(thread.current_ref());
  Collect();
  ASSERT_TRUE(reader_.nodes.contains(number));
  EXPECT_EQ(reader_.nodes[number].path, "/10/20");
  EXPECT_EQ(collector_.TraceNode(thread.current_ref()), number);
}

TEST_F(TreeCollectorTest, FindsChildrenInSlotsAndTables) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Enter(10);
  auto* parent = hot::At<hot::Node>(arena_.get(), thread.current_ref());
  const uint64_t raw_parent = thread.current_ref();
  // Both routines want the same slot; the second and two more go to a table of four.
  constexpr uint32_t kFirst = 33, kSecond = kFirst + hot::kSlotCount;
  std::map<uint32_t, uint64_t> slots;
  for (const uint32_t routine : {kFirst, kSecond}) {
    const uint64_t token = thread.Enter(routine);
    slots[routine] = uint64_t{thread.current_ref()} << 32 | routine;
    thread.Exit(token);
  }
  parent->slots[kFirst % hot::kSlotCount] = slots[kFirst];
  EXPECT_EQ(collector_.TraceChild(raw_parent, kSecond), 0u) << "no table yet";
  hot::Node* memory = hot::At<hot::Node>(arena_.get(), static_cast<hot::Ref>(slots[kFirst] >> 32));
  auto* table = reinterpret_cast<hot::ChildTable*>(memory->slots);
  table->mask = 3;
  for (uint64_t& slot : std::span(table->slots, 4)) slot = uint64_t{1} << 32 | 7;
  parent->table = hot::RefOf(arena_.get(), table);
  EXPECT_EQ(collector_.TraceChild(raw_parent, kSecond), 0u) << "a full table of others";
  table->slots[2] = slots[kSecond];
  Collect();
  EXPECT_EQ(reader_.nodes[collector_.TraceChild(raw_parent, kFirst)].path, "/10/33");
  EXPECT_EQ(reader_.nodes[collector_.TraceChild(raw_parent, kSecond)].path,
            "/10/" + std::to_string(kSecond));
  EXPECT_EQ(collector_.TraceChild(raw_parent, 99), 0u) << "never called";
  EXPECT_EQ(collector_.TraceChild(0, kFirst), 0u) << "no node";
}

TEST_F(TreeCollectorTest, WhatIsNoNodeHasNumberZero) {
  ProbeDouble thread(arena_.get(), 1);
  EXPECT_EQ(collector_.TraceNode(thread.current_ref()), 0u) << "root";
  EXPECT_EQ(collector_.TraceNode(0), 0u);
  EXPECT_EQ(collector_.TraceNode(hot::RefOf(arena_.get(), &arena_->lost_node)), 0u);
  EXPECT_EQ(collector_.TraceNode(~uint64_t{0}), 0u);
  EXPECT_EQ(collector_.TraceNode(arena_->next >> hot::kGranuleShift), 0u);
}

// 20,000 threads after one another in memory for a few; every path is told exactly once a thread.
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

TEST_F(TreeCollectorTest, EndedThreadsLeaveTheirBucketWhereverTheyStand) {
  std::vector<std::unique_ptr<ProbeDouble>> threads;
  for (uint64_t i = 0; i < 5; ++i) {
    threads.push_back(std::make_unique<ProbeDouble>(arena_.get(), 3 + i * hot::kBucketCount));
  }
  for (int i : {4, 2, 0}) threads[i]->End();
  Collect();
  for (uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(hot::FindThreadState(arena_.get(), 3 + i * hot::kBucketCount) != nullptr, i % 2 == 1);
  }
}

// 100,000 virtual threads after one another: one tree, in memory for a few.
TEST(TreeCollectorGroupTest, MembersAreAddedUpInOneTree) {
  TestArena arena;
  TreeCollector collector(arena.get(),
                          [](uint64_t, bool is_virtual) { return is_virtual ? 7 : 0; });
  Reader reader;
  const auto read = [&](const TreeUpdate& update) {
    EXPECT_EQ(update.group, update.java_tid == 0 ? 7u : 0u);
    EXPECT_EQ(update.members > 0, update.group != 0);
    reader.Read(update);
  };
  ProbeDouble platform(arena.get(), 1);
  platform.Exit(platform.Enter(5));
  std::unique_ptr<ProbeDouble> longest;
  for (uint64_t tid = 2; tid < 100'002; ++tid) {
    auto thread = std::make_unique<ProbeDouble>(arena.get(), tid, true);
    const uint64_t token = thread->Enter(10);
    thread->Exit(thread->Enter(20, tid % 2 == 0));
    if (tid == 2) {
      longest = std::move(thread);
      continue;
    }
    thread->Exit(token);
    if (tid % 3 == 0) thread->Exit(thread->Enter(30));
    thread->End();
    if (tid % 100 == 0) collector.Poll();
    if (tid % 1'000 == 0) {
      longest->Exit(longest->Enter(20));
      collector.Collect(read);
    }
  }
  collector.Poll();
  collector.Collect(read);
  EXPECT_EQ(reader.Calls(),
            (std::map<std::string, uint64_t>{
                {"/5", 1}, {"/10", 100'000}, {"/10/20", 100'100}, {"/30", 33'333}}));
  EXPECT_EQ(collector.nodes_reported(), 4u);
  EXPECT_EQ(collector.total_calls(), 233'434u);
  uint64_t jitted = 0;
  for (const auto& [number, place] : reader.nodes) jitted += place.jitted;
  EXPECT_EQ(jitted, 50'000u);
  EXPECT_LT(ArenaBytesUsed(*arena.get()), 2'000'000u);
}

TEST(TreeCollectorGroupTest, SampledNodesHaveTheGroupsNumber) {
  TestArena arena;
  TreeCollector collector(arena.get(), [](uint64_t, bool) { return 1; });
  Reader reader;
  ProbeDouble one(arena.get(), 1, true), two(arena.get(), 2, true);
  for (ProbeDouble* thread : {&one, &two}) {
    thread->Enter(10);
    thread->Enter(20);
  }
  // The first is known from a sample alone, the second collected and gone when its sample is read.
  const uint32_t number = collector.TraceNode(one.current_ref());
  collector.Poll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  two.End();
  collector.Poll();
  EXPECT_EQ(collector.TraceNode(two.current_ref()), number);
  EXPECT_EQ(reader.nodes[number].path, "/10/20");
  EXPECT_EQ(reader.nodes[number].calls, 2u);
}

TEST(TreeCollectorGroupTest, NewFileDefinesTheGroupsNodesAgain) {
  TestArena arena;
  TreeCollector collector(arena.get(), [](uint64_t, bool) { return 1; });
  ProbeDouble thread(arena.get(), 1, true);
  thread.Enter(10);
  thread.Enter(20);
  const auto collect = [&] {
    Reader reader;
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
    return reader.Calls();
  };
  EXPECT_EQ(collect(), (std::map<std::string, uint64_t>{{"/10", 1}, {"/10/20", 1}}));
  collector.BeginFile();
  EXPECT_TRUE(collect().empty());
  thread.Enter(30);
  EXPECT_EQ(collect(),
            (std::map<std::string, uint64_t>{{"/10", 0}, {"/10/20", 0}, {"/10/20/30", 1}}));
  EXPECT_EQ(collector.file_calls(), 1u);
  thread.Enter(30);
  collector.BeginRecording();
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(collector.total_calls(), 0u);
}

// A thread on paths without end, in a tree that may have about a thousand nodes. Nodes that are not
// told at first sight are told in every `tell_every`th round.
void WalkWithoutEnd(ProbeDouble& thread, TreeCollector& collector, Reader& reader, int rounds,
                    absl::FunctionRef<void()> between, int tell_every = 1) {
  std::mt19937 random(7);
  uint32_t next_routine = 100;
  std::vector<uint64_t> tokens;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 400; ++i) {
      const bool is_new = random() % 4 == 0;
      if (tokens.size() < 12 && random() % 2 == 0) {
        const uint32_t routine = is_new ? next_routine++ : 1 + random() % 5;
        tokens.push_back(thread.Enter(routine, random() % 3 == 0));
      } else if (!tokens.empty()) {
        thread.Exit(tokens.back());
        tokens.pop_back();
      }
    }
    between();
    thread.Prune();
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); },
                      round % tell_every == 0);
  }
}

TEST(TreeCollectorPruneTest, NoCallIsLostAndMemoryIsBounded) {
  TestArena arena;
  TreeCollector collector(arena.get(), nullptr, nullptr, hot::ProbeClock::kNone,
                          {.arena_bytes = 1000 * sizeof(hot::Node), .prune_percent = 1});
  Reader reader;
  ProbeDouble thread(arena.get(), 1);
  uint64_t used_early = 0;
  int round = 0;
  WalkWithoutEnd(thread, collector, reader, 800, [&] {
    if (++round == 200) used_early = ArenaBytesUsed(*arena.get());
  });
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  uint64_t calls = 0, jitted = 0;
  for (const auto& [number, place] : reader.nodes) {
    calls += place.calls;
    jitted += place.jitted;
  }
  EXPECT_EQ(calls, thread.calls());
  EXPECT_EQ(jitted, thread.jitted());
  EXPECT_EQ(collector.total_calls(), thread.calls());
  EXPECT_GT(collector.pruned_nodes(), 5'000u);
  EXPECT_LT(ArenaBytesUsed(*arena.get()), used_early * 5 / 4 + 100'000);
}

TEST(TreeCollectorPruneTest, WhatIsSoonGivenUpIsNotTold) {
  std::map<int, uint32_t> told;
  for (const int tell_every : {1, 10}) {
    TestArena arena;
    TreeCollector collector(arena.get(), nullptr, nullptr, hot::ProbeClock::kNone,
                            {.arena_bytes = 1000 * sizeof(hot::Node), .prune_percent = 1});
    Reader reader;
    ProbeDouble thread(arena.get(), 1);
    WalkWithoutEnd(
        thread, collector, reader, 400, [] {}, tell_every);
    told[tell_every] = collector.nodes_reported();
    collector.TellAll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
    uint64_t calls = 0;
    for (const auto& [number, place] : reader.nodes) calls += place.calls;
    EXPECT_EQ(calls, thread.calls());
    EXPECT_EQ(collector.total_calls(), thread.calls());
  }
  EXPECT_LT(told[10], told[1] / 2);
}

// Records in the ring, the open gap and the file's first position name nodes at any time.
TEST(TreeCollectorPruneTest, ThreadsWithALogKeepTheirNodes) {
  TestArena arena;
  TreeCollector collector(arena.get(), nullptr, nullptr, hot::ProbeClock::kNone,
                          {.arena_bytes = 100 * sizeof(hot::Node), .prune_percent = 1});
  Reader reader;
  ProbeDouble thread(arena.get(), 1);
  thread.state()->log_ring = 1;
  WalkWithoutEnd(thread, collector, reader, 20, [] {});
  EXPECT_TRUE(collector.IsShort());
  EXPECT_EQ(collector.pruned_nodes(), 0u);
  thread.state()->log_ring = 0;
  WalkWithoutEnd(thread, collector, reader, 20, [] {});
  EXPECT_GT(collector.pruned_nodes(), 0u);
}

// The thread goes there by ThreadState::pruned, whatever the tree's slots say.
TEST(TreeCollectorPruneTest, TheRootsPrunedNodeStays) {
  TestArena arena;
  TreeCollector collector(arena.get(), nullptr, nullptr, hot::ProbeClock::kNone,
                          {.arena_bytes = 100 * sizeof(hot::Node), .prune_percent = 1});
  Reader reader;
  ProbeDouble thread(arena.get(), 1);
  const uint64_t token = thread.Enter(hot::kPrunedRoutine);
  const auto pruned = static_cast<hot::Ref>(thread.current_ref());
  thread.state()->pruned = pruned;
  thread.Exit(token);
  WalkWithoutEnd(thread, collector, reader, 40, [] {});
  EXPECT_GT(collector.pruned_nodes(), 0u);
  const auto& node = *hot::At<hot::Node>(arena.get(), pruned);
  EXPECT_EQ(node.marks & hot::kMarkGone, 0);
  EXPECT_EQ(node.routine, hot::kPrunedRoutine);
}

// What was pruned leaves its time as well, in all files of the recording together.
TEST(TreeCollectorPruneTest, NoTimeIsLost) {
  constexpr uint64_t kNodeBytes = sizeof(hot::Node) + sizeof(hot::NodeTimes);
  for (const uint32_t group : {0, 1}) {
    TestArena arena;
    const TickScale scale = TickScale::Nanoseconds();
    TreeCollector collector(arena.get(), [group](uint64_t, bool) { return group; }, &scale,
                            hot::ProbeClock::kCoarse,
                            {.arena_bytes = 1000 * kNodeBytes, .prune_percent = 1});
    std::vector<Reader> files(1);
    ProbeDouble thread(arena.get(), 1, false, /*has_clock=*/true);
    for (int file = 0; file < 4; ++file) {
      WalkWithoutEnd(thread, collector, files.back(), 100, [] {});
      collector.BeginFile();
      files.emplace_back();
    }
    collector.Collect([&](const TreeUpdate& update) { files.back().Read(update); });
    uint64_t base = 0, calls = 0, in_pruned = 0;
    for (const Reader& file : files) {
      for (const auto& [number, place] : file.nodes) {
        base += place.base;
        calls += place.calls;
        if (place.path.ends_with("/0")) in_pruned += place.base;
      }
    }
    EXPECT_EQ(calls, thread.calls());
    EXPECT_EQ(base, thread.ticks());
    EXPECT_GT(collector.pruned_nodes(), 1'000u);
    if (group == 0) {
      EXPECT_GT(in_pruned, 0u);
    }
  }
}

TEST(TreeCollectorPruneTest, SamplesOfPrunedNodesFindANodeThatIsDefined) {
  TestArena arena;
  TreeCollector collector(arena.get(), nullptr, nullptr, hot::ProbeClock::kNone,
                          {.arena_bytes = 1000 * sizeof(hot::Node), .prune_percent = 1});
  Reader reader;
  ProbeDouble thread(arena.get(), 1);
  std::vector<uint32_t> sampled;
  uint64_t before = 0;
  WalkWithoutEnd(thread, collector, reader, 300, [&] {
    // Read in this round; the one of the round before may have been given up by now.
    for (const uint64_t raw : {thread.current_ref(), before}) {
      if (raw != 0) sampled.push_back(collector.TraceNode(raw));
    }
    before = thread.current_ref();
  });
  EXPECT_GT(collector.pruned_nodes(), 1'000u);
  for (const uint32_t number : sampled) EXPECT_TRUE(reader.nodes.contains(number)) << number;
}

TEST(TreeCollectorPruneTest, MembersOfGroupsLeaveTheirCallsToTheGroup) {
  TestArena arena;
  TreeCollector collector(arena.get(), [](uint64_t, bool) { return 1; }, nullptr,
                          hot::ProbeClock::kNone,
                          {.arena_bytes = 1000 * sizeof(hot::Node),
                           .groups_bytes = 400 * sizeof(GroupForest::Node),
                           .prune_percent = 1});
  Reader reader;
  ProbeDouble thread(arena.get(), 1);
  WalkWithoutEnd(thread, collector, reader, 300, [] {});
  uint64_t calls = 0, in_pruned = 0;
  for (const auto& [path, count] : reader.Calls()) {
    calls += count;
    if (path.ends_with("/0")) in_pruned += count;
  }
  EXPECT_EQ(calls, thread.calls());
  EXPECT_GT(in_pruned, 0u);
  EXPECT_LE(reader.nodes.size(), 252u);
}

// Eight writers come and go in the same few buckets while the collector runs (TSan looks on).
TEST_F(TreeCollectorTest, CollectsWhileThreadsRun) {
  constexpr int kWriters = 8, kLives = 50, kRounds = 200;
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int life = 0; life < kLives; ++life) {
        ProbeDouble probe(arena_.get(), 1 + w % 2 + (life * kWriters + w) * hot::kBucketCount);
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
  EXPECT_FALSE(hot::ReadPosition(5).known) << "no probes";
  hot::published_arena = arena.get();
  EXPECT_TRUE(hot::ReadPosition(5).known);
  EXPECT_EQ(hot::ReadPosition(5).node, 0u) << "no probed method entered yet";
  EXPECT_FALSE(hot::ReadPosition(0).known) << "not a Java thread";
  ProbeDouble thread(arena.get(), 5);
  const uint64_t token = thread.Enter(9);
  TreeCollector collector(arena.get());
  EXPECT_EQ(collector.TraceNode(hot::ReadPosition(5).node), 1u);
  thread.Exit(token);
  EXPECT_EQ(collector.TraceNode(hot::ReadPosition(5).node), 0u) << "back at the root";
  hot::MarkThreadEnded(arena.get(), 5);
  collector.Collect([](const TreeUpdate& update) { EXPECT_TRUE(update.ended); });
  EXPECT_EQ(hot::FindThreadState(arena.get(), 5), nullptr);
  hot::published_arena = nullptr;
}

// What a reader of the files since the last BeginFile knows is what happened since.
TEST_F(TreeCollectorTest, NewFileCountsFromItsBeginning) {
  ProbeDouble thread(arena_.get(), 1);
  const uint64_t a = thread.Enter(10);
  for (int i = 0; i < 3; ++i) thread.Exit(thread.Enter(20, true));
  thread.Exit(thread.Enter(30));
  Collect();
  thread.Exit(thread.Enter(20, true));  // between the last Collect and the new file: in the new one
  collector_.BeginFile();
  reader_ = Reader();
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
  reader_ = Reader();
  const uint32_t number = collector_.TraceNode(thread.current_ref());
  Collect();
  ASSERT_TRUE(reader_.nodes.contains(number));
  EXPECT_EQ(reader_.nodes[number].path, "/10/20");
  EXPECT_EQ(reader_.nodes[number].calls, 0u);
}

TEST_F(TreeCollectorTest, NewRecordingForgetsWhatWasCountedBetween) {
  ProbeDouble thread(arena_.get(), 1);
  thread.Exit(thread.Enter(10));
  Collect();
  thread.Exit(thread.Enter(10));  // nobody records
  collector_.BeginRecording();
  reader_ = Reader();
  thread.Exit(thread.Enter(10));
  Collect();
  EXPECT_EQ(reader_.Calls(), (std::map<std::string, uint64_t>{{"/10", 1}}));
  EXPECT_EQ(collector_.total_calls(), 1u);
}

}  // namespace
}  // namespace jtrace
