#include "agent/metrics/tree_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "agent/calls/trees/node_state.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::metrics {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::testing::ElementsAre;

// Calls, and at place 1 ten for each call of an even routine.
PathValues Read(const signal_safe::Node& node) {
  PathValues values = {};
  values[kCallsColumn] = static_cast<int64_t>(calls::ReadCounts(node).calls);
  values[1] = node.routine % 2 == 0 ? 10 * values[kCallsColumn] : 0;
  return values;
}

void Call(testing::ProbeDouble& thread, std::vector<uint32_t> path) {
  std::vector<uint64_t> tokens;
  for (const uint32_t routine : path) tokens.push_back(thread.Enter(routine));
  for (; !tokens.empty(); tokens.pop_back()) thread.Exit(tokens.back());
}

TEST(TreeSnapshotTest, NestedActivationsCountOnce) {
  testing::TestArena arena;
  testing::ProbeDouble thread(arena.get(), 1);
  Call(thread, {1, 2, 3, 2, 4});
  Call(thread, {1, 3, 4});
  TreeSnapshot tree;
  tree.Add(arena.get(), *thread.state(), 1, Read);

  const MethodTotals two = tree.Totals({2}, 1);
  EXPECT_EQ(two.calls, 2);
  EXPECT_EQ(two.outermost_calls, 1);
  EXPECT_EQ(two.base, 20);
  EXPECT_EQ(two.cum, 30);  // both activations, and 4 below

  const MethodTotals both = tree.Totals({2, 3}, kCallsColumn);
  EXPECT_EQ(both.calls, 4);
  EXPECT_EQ(both.outermost_calls, 2);
  EXPECT_EQ(both.base, 4);
  EXPECT_EQ(both.cum, 6);

  EXPECT_EQ(tree.Totals({99}, 1).calls, 0);
}

TEST(TreeSnapshotTest, TreesOfThreadsAddUpByPath) {
  testing::TestArena arena;
  testing::ProbeDouble first(arena.get(), 1);
  testing::ProbeDouble second(arena.get(), 2);
  Call(first, {1, 2});
  Call(first, {1, 2});
  Call(second, {5});
  Call(second, {1, 2});
  TreeSnapshot tree;
  tree.Add(arena.get(), *first.state(), 1, Read);
  tree.Add(arena.get(), *second.state(), 1, Read);
  TreeSnapshot before;
  before.Add(arena.get(), *first.state(), -1, Read);
  EXPECT_EQ(tree.Totals({2}, 1).base, 30);
  tree.Add(before);
  EXPECT_EQ(tree.Totals({2}, 1).base, 10);
  EXPECT_EQ(tree.Totals({1}, kCallsColumn).cum, 2);
}

TEST(TreeSnapshotTest, TopPathsByTheirOwnValue) {
  testing::TestArena arena;
  testing::ProbeDouble thread(arena.get(), 1);
  for (int i = 0; i < 3; ++i) Call(thread, {2, 1, 4});
  Call(thread, {2, 6});
  TreeSnapshot tree;
  tree.Add(arena.get(), *thread.state(), 1, Read);
  const std::vector<PathShare> top = tree.Top(1, 2, nullptr);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].value, 40);
  EXPECT_THAT(top[0].routines, ElementsAre(2));
  EXPECT_EQ(top[1].value, 30);
  EXPECT_THAT(top[1].routines, ElementsAre(2, 1, 4));
  const Routines six = {6};
  const std::vector<PathShare> only = tree.Top(1, 5, &six);
  ASSERT_EQ(only.size(), 1u);
  EXPECT_THAT(only[0].routines, ElementsAre(2, 6));
}

TEST(TreeSnapshotTest, PathsBelowAMethodBeginThere) {
  testing::TestArena arena;
  testing::ProbeDouble thread(arena.get(), 1);
  Call(thread, {1, 3, 2, 3, 4});
  Call(thread, {1, 2, 4});
  Call(thread, {5, 3, 2});
  TreeSnapshot tree;
  tree.Add(arena.get(), *thread.state(), 1, Read);
  const TreeSnapshot below = tree.Below({3});
  EXPECT_EQ(below.Totals({2}, kCallsColumn).calls, 2);
  EXPECT_EQ(below.Totals({4}, kCallsColumn).calls, 1);
  EXPECT_EQ(below.Totals({1, 5}, kCallsColumn).calls, 0);
  EXPECT_EQ(below.Totals({3}, kCallsColumn).outermost_calls, 2);
  const std::vector<PathShare> top = below.Top(1, 1, nullptr);
  ASSERT_EQ(top.size(), 1u);
  EXPECT_EQ(top[0].value, 20);
  EXPECT_THAT(top[0].routines, ElementsAre(3, 2));
}

TEST(TreeSnapshotTest, ConvertsTheValuesOfOnePlace) {
  testing::TestArena arena;
  testing::ProbeDouble thread(arena.get(), 1);
  Call(thread, {2, 4});
  TreeSnapshot tree;
  tree.Add(arena.get(), *thread.state(), 1, Read);
  tree.Convert(1, [](int64_t value) { return value * 3; });
  EXPECT_EQ(tree.Totals({2}, 1).cum, 60);
  EXPECT_EQ(tree.Totals({4}, 1).base, 30);
  EXPECT_EQ(tree.Totals({4}, kCallsColumn).calls, 1);
}

TEST(TreeSnapshotTest, SaysWhenItIsFull) {
  testing::TestArena arena;
  testing::ProbeDouble thread(arena.get(), 1);
  for (uint32_t i = 1; i <= 10; ++i) Call(thread, {i});
  TreeSnapshot tree(/*max_nodes=*/10);
  tree.Add(arena.get(), *thread.state(), 1, Read);
  EXPECT_TRUE(tree.is_full());
  EXPECT_TRUE(tree.empty());
}

// A program with millions of call paths would pay for what nobody can ask for.
TEST(TreeSnapshotTest, TakesNothingWhenItIsFull) {
  testing::TestArena arena;
  testing::ProbeDouble large(arena.get(), 1), small(arena.get(), 2);
  for (uint32_t i = 1; i <= 10; ++i) Call(large, {i});
  Call(small, {1});
  TreeSnapshot full(/*max_nodes=*/10);
  full.Add(arena.get(), *large.state(), 1, Read);
  uint32_t reads = 0;
  const auto counted = [&reads](const signal_safe::Node& node) {
    ++reads;
    return Read(node);
  };
  full.Add(arena.get(), *small.state(), 1, counted);
  full.AddNode(arena.get(), *signal_safe::At<signal_safe::Node>(arena.get(), small.state()->root),
               1, counted);
  EXPECT_EQ(reads, 0u);
  TreeSnapshot sum;
  sum.Add(arena.get(), *small.state(), 1, Read);
  sum.Add(full);
  EXPECT_TRUE(sum.is_full());
  EXPECT_TRUE(sum.empty());
}

}  // namespace
}  // namespace jtrace::metrics
