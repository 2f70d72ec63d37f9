// An agent's trees beside simple ones, with nodes that are lost, dropped, defined twice.
#include "postproc/reader/agent_trees.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "native-tests/support/random.h"

namespace jtrace {
namespace {

using postproc::AgentTrees;
using postproc::TreeNode;
using testing::Random;

struct Known {
  uint32_t thread = 0, parent = 0, routine = 0;
  bool is_lost = false, is_dropped = false;
  int64_t calls = 0, jitted = 0;
};

// What FORMAT.md says of a TreeDelta.
class NaiveTrees {
 public:
  void Define(uint32_t id, uint32_t thread, uint32_t parent, uint32_t routine) {
    const bool is_lost = parent != 0 && !nodes.contains(parent);
    if (id == 0 || nodes.contains(id)) return;
    nodes[id] = {thread, is_lost ? 0 : parent, routine, is_lost, false, 0, 0};
    order.push_back(id);
  }
  void Count(uint32_t id, uint32_t thread, int64_t calls, int64_t jitted) {
    if (id == 0) return;
    if (!nodes.contains(id)) {
      nodes[id] = {thread, 0, postproc::kLostRoutine, false, false, 0, 0};
      order.push_back(id);
    }
    Known& node = nodes[id];
    if (node.is_dropped) return;
    node.calls = calls;
    node.jitted = jitted;
  }
  void Drop(uint32_t id) {
    if (nodes.contains(id)) nodes[id].is_dropped = true;
  }
  uint32_t Kept(uint32_t id) const {
    while (id != 0 && nodes.contains(id) && nodes.at(id).is_dropped) id = nodes.at(id).parent;
    return id;
  }
  std::vector<std::string> DepthFirst() const {
    std::vector<std::string> lines;
    std::set<uint32_t> threads;
    for (const uint32_t id : order) {
      const Known& node = nodes.at(id);
      if (node.is_dropped || Kept(node.parent) != 0) continue;
      if (threads.insert(node.thread).second) Below(0, node.thread, 0, lines);
    }
    return lines;
  }
  static std::string Line(uint32_t id, uint32_t level, const Known& node) {
    return std::to_string(id) + " " + std::to_string(level) + " " + std::to_string(node.thread) +
           " " + std::to_string(node.routine) + " " + std::to_string(node.is_lost) + " " +
           std::to_string(node.calls) + " " + std::to_string(node.jitted);
  }

  std::map<uint32_t, Known> nodes;
  std::vector<uint32_t> order;

 private:
  void Below(uint32_t parent, uint32_t thread, uint32_t level,
             std::vector<std::string>& lines) const {
    for (const uint32_t id : order) {
      const Known& node = nodes.at(id);
      if (node.is_dropped || Kept(node.parent) != parent) continue;
      if (parent == 0 && node.thread != thread) continue;
      lines.push_back(Line(id, level, node));
      Below(id, thread, level + 1, lines);
    }
  }
};

// Deltas are coded as differences.
class DeltaWriter {
 public:
  int32_t Next(uint32_t id) {
    const uint32_t step = id - last_;
    last_ = id;
    return static_cast<int32_t>(step);
  }

 private:
  uint32_t last_ = 0;
};

class Recording {
 public:
  explicit Recording(uint64_t seed) : random_(seed) {}

  void AddDelta() {
    proto::TreeDelta delta;
    const auto thread = static_cast<uint32_t>(1 + random_.Below(3));
    delta.set_thread(thread);
    DeltaWriter news, totals, dropped;
    for (uint64_t i = random_.Below(20); i > 0; --i) {
      const uint32_t id = random_.OneIn(8) ? AnyId() : ++last_;
      const uint32_t parent = random_.OneIn(4) ? 0 : AnyId();
      const auto routine = static_cast<uint32_t>(random_.Below(5));
      delta.add_new_node(news.Next(id));
      delta.add_new_parent(parent);
      delta.add_new_routine(routine);
      naive.Define(id, thread, parent, routine);
    }
    for (uint64_t i = random_.Below(20); i > 0; --i) {
      const uint32_t id = AnyId();
      const auto calls = random_.Below(uint64_t{1} << random_.Below(40));
      delta.add_node(totals.Next(id));
      delta.add_calls(calls);
      delta.add_jitted(calls / 2);
      naive.Count(id, thread, static_cast<int64_t>(calls), static_cast<int64_t>(calls / 2));
    }
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      const uint32_t id = AnyId();
      delta.add_pruned_node(dropped.Next(id));
      naive.Drop(id);
    }
    trees.Add(delta, [](uint32_t) { return std::string(); });
  }

  postproc::TraceModel model;
  postproc::ImportStats stats;
  AgentTrees trees{model, stats};
  NaiveTrees naive;

 private:
  // Of a node, and now and then of none.
  uint32_t AnyId() {
    if (random_.OneIn(30)) return static_cast<uint32_t>(random_.Below(UINT32_MAX));
    return static_cast<uint32_t>(random_.Below(last_ + 3));
  }

  Random random_;
  uint32_t last_ = 0;
};

TEST(AgentTreesTest, AreTheSimpleTrees) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Recording it(seed);
    for (int i = 0; i < 12; ++i) it.AddDelta();
    std::vector<uint32_t> kept;
    for (const uint32_t id : it.naive.order) {
      if (!it.naive.nodes[id].is_dropped) kept.push_back(id);
    }
    ASSERT_EQ(it.trees.node_order(), kept) << seed;
    for (const auto& [id, node] : it.naive.nodes) {
      ASSERT_EQ(it.trees.ThreadOf(id), node.thread) << seed;
      ASSERT_EQ(it.trees.KeptNode(id), it.naive.Kept(id)) << seed;
      ASSERT_EQ(it.trees.FindNode(id).has_value(), !node.is_dropped) << seed;
    }
    std::vector<std::string> lines;
    it.trees.DepthFirst([&](uint32_t id, TreeNode& node, uint32_t level) {
      lines.push_back(
          NaiveTrees::Line(id, level,
                           {node.thread, 0, node.routine, node.lost, false,
                            node.counts.calls.value_or(0), node.counts.calls_jitted.value_or(0)}));
    });
    ASSERT_EQ(lines, it.naive.DepthFirst()) << seed;
  }
}

// A program with endless new paths: each search along them shortens the next.
TEST(AgentTreesTest, LongWaysOfDroppedNodesAreWalkedOnce) {
  constexpr uint32_t kDepth = 200'000;
  postproc::TraceModel model;
  postproc::ImportStats stats;
  AgentTrees trees(model, stats);
  proto::TreeDelta delta;
  delta.set_thread(1);
  for (uint32_t i = 1; i <= kDepth; ++i) {
    delta.add_new_node(1);
    delta.add_new_parent(i - 1);
    delta.add_new_routine(1);
  }
  delta.add_pruned_node(2);
  for (uint32_t i = 3; i <= kDepth; ++i) delta.add_pruned_node(1);
  trees.Add(delta, [](uint32_t) { return std::string(); });
  for (uint32_t i = kDepth; i > 1; --i) ASSERT_EQ(trees.KeptNode(i), 1u);
  size_t visited = 0;
  trees.DepthFirst([&](uint32_t, TreeNode&, uint32_t) { ++visited; });
  EXPECT_EQ(visited, 1u);
}

}  // namespace
}  // namespace jtrace
