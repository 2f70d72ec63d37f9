// Threads that share a tree: virtual ones, and those of one name pattern.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "agent/calls/trees/tree_collector.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

// 100,000 virtual threads one after another: one tree, in memory for a few.
TEST(TreeCollectorGroupTest, MembersAreAddedUpInOneTree) {
  TestArena arena;
  TreeCollector collector(
      arena.get(), {.group_of = [](uint64_t, bool is_virtual) { return is_virtual ? 7 : 0; }});
  TreeReader reader;
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
  TreeCollector collector(arena.get(), {.group_of = [](uint64_t, bool) { return 1; }});
  TreeReader reader;
  ProbeDouble one(arena.get(), 1, true), two(arena.get(), 2, true);
  for (ProbeDouble* thread : {&one, &two}) {
    thread->Enter(10);
    thread->Enter(20);
  }
  // The first is known only from a sample, the second collected and removed when its sample is
  // read.
  const uint32_t number = collector.NumberOf(one.current_ref());
  collector.Poll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  two.End();
  collector.Poll();
  EXPECT_EQ(collector.NumberOf(two.current_ref()), number);
  EXPECT_EQ(reader.nodes[number].path, "/10/20");
  EXPECT_EQ(reader.nodes[number].calls, 2u);
}

TEST(TreeCollectorGroupTest, NewFileDefinesTheGroupsNodesAgain) {
  TestArena arena;
  TreeCollector collector(arena.get(), {.group_of = [](uint64_t, bool) { return 1; }});
  ProbeDouble thread(arena.get(), 1, true);
  thread.Enter(10);
  thread.Enter(20);
  const auto collect = [&] {
    TreeReader reader;
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

}  // namespace
}  // namespace jtrace::calls
