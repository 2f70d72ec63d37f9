// Bounded trees: which nodes are dropped, and that none of their calls is lost.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "agent/calls/trees/tree_collector.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/routine_id.h"
#include "agent/signal_safe/tree_node.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

// A thread on endless paths, in a tree that may have about a thousand nodes. Nodes that are not
// reported when first seen are reported in every `report_every`th round.
void WalkWithoutEnd(ProbeDouble& thread, TreeCollector& collector, TreeReader& reader, int rounds,
                    absl::FunctionRef<void()> between, int report_every = 1) {
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
                      round % report_every == 0);
  }
}

TEST(TreeCollectorPruneTest, NoCallIsLostAndMemoryIsBounded) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.limits = {.arena_bytes = 1000 * sizeof(signal_safe::Node),
                                                   .prune_percent = 1}});
  TreeReader reader;
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
  std::map<uint32_t, uint64_t> by_routine;
  reader.AddByRoutine(by_routine);
  EXPECT_EQ(by_routine, thread.by_routine());
  EXPECT_GT(collector.pruned_nodes(), 5'000u);
  EXPECT_LT(ArenaBytesUsed(*arena.get()), used_early * 5 / 4 + 100'000);
}

TEST(TreeCollectorPruneTest, NodesThatAreSoonDroppedAreNotReported) {
  std::map<int, uint32_t> reported;
  for (const int report_every : {1, 10}) {
    TestArena arena;
    TreeCollector collector(
        arena.get(),
        {.limits = {.arena_bytes = 1000 * sizeof(signal_safe::Node), .prune_percent = 1}});
    TreeReader reader;
    ProbeDouble thread(arena.get(), 1);
    WalkWithoutEnd(
        thread, collector, reader, 400, [] {}, report_every);
    reported[report_every] = collector.nodes_reported();
    collector.ReportAll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
    uint64_t calls = 0;
    for (const auto& [number, place] : reader.nodes) calls += place.calls;
    EXPECT_EQ(calls, thread.calls());
    EXPECT_EQ(collector.total_calls(), thread.calls());
  }
  EXPECT_LT(reported[10], reported[1] / 2);
}

// Records in the ring, the open gap and the file's first position name nodes at any time.
TEST(TreeCollectorPruneTest, ThreadsWithALogKeepTheirNodes) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.limits = {.arena_bytes = 100 * sizeof(signal_safe::Node),
                                                   .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  thread.state()->log_ring = 1;
  WalkWithoutEnd(thread, collector, reader, 20, [] {});
  EXPECT_TRUE(collector.IsShort());
  EXPECT_EQ(collector.pruned_nodes(), 0u);
  thread.state()->log_ring = 0;
  WalkWithoutEnd(thread, collector, reader, 20, [] {});
  EXPECT_GT(collector.pruned_nodes(), 0u);
}

// The thread uses it by ThreadState::pruned, whatever the tree's slots contain.
TEST(TreeCollectorPruneTest, TheRootsPrunedNodeStays) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.limits = {.arena_bytes = 100 * sizeof(signal_safe::Node),
                                                   .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  const uint64_t token = thread.Enter(signal_safe::kPrunedRoutine);
  const auto pruned = static_cast<signal_safe::Ref>(thread.current_ref());
  thread.state()->pruned = pruned;
  thread.Exit(token);
  WalkWithoutEnd(thread, collector, reader, 40, [] {});
  EXPECT_GT(collector.pruned_nodes(), 0u);
  const auto& node = *signal_safe::At<signal_safe::Node>(arena.get(), pruned);
  EXPECT_EQ(node.flags & signal_safe::kNodeCutOff, 0);
  EXPECT_EQ(node.routine, signal_safe::kPrunedRoutine);
}

// Pruned nodes leave their time as well, in all files of the recording together.
TEST(TreeCollectorPruneTest, NoTimeIsLost) {
  constexpr uint64_t kNodeBytes = sizeof(signal_safe::Node) + sizeof(signal_safe::NodeTimes);
  for (const uint32_t group : {0, 1}) {
    TestArena arena;
    const ClockScale scale = ClockScale::Nanoseconds();
    TreeCollector collector(arena.get(),
                            {.group_of = [group](uint64_t, bool) { return group; },
                             .clock = signal_safe::ProbeClock::kCoarse,
                             .scale = &scale,
                             .limits = {.arena_bytes = 1000 * kNodeBytes, .prune_percent = 1}});
    std::vector<TreeReader> files(1);
    ProbeDouble thread(arena.get(), 1, false, /*has_clock=*/true);
    for (int file = 0; file < 4; ++file) {
      WalkWithoutEnd(thread, collector, files.back(), 100, [] {});
      collector.BeginFile();
      files.emplace_back();
    }
    collector.Collect([&](const TreeUpdate& update) { files.back().Read(update); });
    uint64_t base = 0, calls = 0, in_pruned = 0;
    std::map<uint32_t, uint64_t> by_routine;
    for (const TreeReader& file : files) {
      file.AddByRoutine(by_routine);
      for (const auto& [number, place] : file.nodes) {
        base += place.base;
        calls += place.calls;
        if (place.path.find("/0/") != std::string::npos) in_pruned += place.base;
      }
    }
    EXPECT_EQ(calls, thread.calls());
    EXPECT_EQ(by_routine, thread.by_routine());
    EXPECT_EQ(base, thread.ticks());
    EXPECT_GT(collector.pruned_nodes(), 1'000u);
    if (group == 0) {
      EXPECT_GT(in_pruned, 0u);
    }
  }
}

TEST(TreeCollectorPruneTest, SamplesOfPrunedNodesNameADefinedNode) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.limits = {.arena_bytes = 1000 * sizeof(signal_safe::Node),
                                                   .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  std::vector<uint32_t> sampled;
  uint64_t before = 0;
  WalkWithoutEnd(thread, collector, reader, 300, [&] {
    // Read in this round; the one of the round before may have been dropped by now.
    for (const uint64_t raw : {thread.current_ref(), before}) {
      if (raw != 0) sampled.push_back(collector.NumberOf(raw));
    }
    before = thread.current_ref();
  });
  EXPECT_GT(collector.pruned_nodes(), 1'000u);
  for (const uint32_t number : sampled) EXPECT_TRUE(reader.nodes.contains(number)) << number;
}

TEST(TreeCollectorPruneTest, MembersOfGroupsLeaveTheirCallsToTheGroup) {
  TestArena arena;
  TreeCollector collector(arena.get(),
                          {.group_of = [](uint64_t, bool) { return 1; },
                           .limits = {.arena_bytes = 1000 * sizeof(signal_safe::Node),
                                      .groups_bytes = 400 * sizeof(GroupTreeStore::Node),
                                      .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  WalkWithoutEnd(thread, collector, reader, 300, [] {});
  uint64_t calls = 0, in_pruned = 0;
  for (const auto& [path, count] : reader.Calls()) {
    calls += count;
    if (path.find("/0/") != std::string::npos) in_pruned += count;
  }
  EXPECT_EQ(calls, thread.calls());
  EXPECT_GT(in_pruned, 0u);
  std::map<uint32_t, uint64_t> by_routine;
  reader.AddByRoutine(by_routine);
  EXPECT_EQ(by_routine, thread.by_routine());
}

// Without memory for nodes the thread counts below its own [pruned] node, which may be dropped as
// well.
TEST(TreeCollectorPruneTest, AThreadsOwnPrunedNodesAreDroppedLikeOthers) {
  TestArena arena;
  TreeCollector collector(
      arena.get(), {.limits = {.arena_bytes = 5 * sizeof(signal_safe::Node), .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  const auto call = [&](uint32_t routine, int times) {
    for (int i = 0; i < times; ++i) thread.Exit(thread.Enter(routine));
  };
  for (uint32_t round = 0; round < 60; ++round) {
    const uint64_t outer = thread.Enter(1 + round / 20);
    call(50, 2000);
    // First its rare nodes are dropped, later all of it.
    if (round % 20 < 2) {
      const uint64_t token = thread.Enter(signal_safe::kPrunedRoutine);
      call(60, 150);
      call(70 + round, 1);
      thread.Exit(token);
    }
    thread.Exit(outer);
    thread.Prune();
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  }
  std::map<uint32_t, uint64_t> by_routine;
  reader.AddByRoutine(by_routine);
  std::map<uint32_t, uint64_t> expected = thread.by_routine();
  // The double counts its entries there; the probes do not.
  expected.erase(signal_safe::kPrunedRoutine);
  by_routine.erase(0);
  EXPECT_EQ(by_routine, expected);
  EXPECT_GE(collector.pruned_nodes(), 4u);
}

// Too many for a sum of each routine below each kept node: those of the root are used.
TEST(TreeCollectorPruneTest, SumsNearTheirCallersAreBounded) {
  constexpr uint64_t kArenaBytes = 100 * sizeof(signal_safe::Node);
  TestArena arena;
  TreeCollector collector(arena.get(),
                          {.limits = {.arena_bytes = kArenaBytes, .prune_percent = 1}});
  TreeReader reader;
  ProbeDouble thread(arena.get(), 1);
  const auto call = [&](uint32_t routine, int times) {
    for (int i = 0; i < times; ++i) thread.Exit(thread.Enter(routine));
  };
  for (uint32_t round = 0; round < 40; ++round) {
    for (uint32_t caller = 1; caller <= 10; ++caller) {
      const uint64_t token = thread.Enter(caller);
      call(50, 200);
      call(1000 + 10 * round + caller, 1);
      thread.Exit(token);
    }
    thread.Prune();
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  }
  collector.ReportAll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  uint64_t near = 0, at_root = 0;
  for (const auto& [path, count] : reader.Calls()) {
    if (count == 0 || path.find("/0/") == std::string::npos) continue;
    ++(path.starts_with("/0/") ? at_root : near);
  }
  EXPECT_GT(near, 0u);
  EXPECT_LE(near, kArenaBytes / 6 / sizeof(PrunedTotals::Sum));
  EXPECT_GT(at_root, near);
  std::map<uint32_t, uint64_t> by_routine;
  reader.AddByRoutine(by_routine);
  EXPECT_EQ(by_routine, thread.by_routine());
}

}  // namespace
}  // namespace jtrace::calls
