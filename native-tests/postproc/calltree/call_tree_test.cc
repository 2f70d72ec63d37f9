// The call tree beside a simple one: maps, and sums by walking up.
#include "postproc/calltree/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "native-tests/support/random.h"
#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/measure.h"
#include "postproc/model/trace_model.h"

namespace jtrace {
namespace {

using postproc::CallNode;
using postproc::CallTree;
using postproc::ChildSpace;
using postproc::NodeId;
using postproc::NodeOrigin;
using postproc::NodeTotals;
using postproc::RoutineId;
using postproc::ThreadId;
using testing::Random;

constexpr uint32_t kRoutines = 40;

struct NaiveNode {
  uint32_t parent = 0, routine = 0, place = 0, thread = 0;
  bool is_apart = false, is_event = false;
  int64_t calls = 0, jitted = 0, base = 0, off = 0, ticks = 0, samples = 0, min = 0, max = 0;
  bool has_extremes = false;
  std::vector<uint32_t> children;
};

// Both trees, changed alike.
class TwoTrees {
 public:
  explicit TwoTrees(uint64_t seed) : random_(seed) {
    for (uint32_t thread = 1; thread <= 3; ++thread) {
      tree.AddRoot(ThreadId(thread));
      naive.emplace_back().thread = thread;
      naive.back().calls = 1;
    }
  }

  void Step() {
    const auto at = static_cast<uint32_t>(1 + random_.Below(naive.size()));
    AddChild(at);
    Count(static_cast<uint32_t>(1 + random_.Below(naive.size())));
  }

  CallTree tree;
  std::vector<NaiveNode> naive;

 private:
  void AddChild(uint32_t parent) {
    // Few parents with many children, and many with few.
    const uint32_t above = random_.OneIn(3) ? 1 + parent % 3 : parent;
    const auto routine = static_cast<uint32_t>(1 + random_.Below(kRoutines));
    const auto place = static_cast<uint32_t>(random_.OneIn(4) ? 2 + 2 * random_.Below(3) : 0);
    const bool is_apart = random_.OneIn(5);
    const auto [known, is_new] =
        children_.try_emplace(std::tuple(above, routine, place, is_apart), naive.size() + 1);
    if (is_new) {
      NaiveNode& node = naive.emplace_back();
      node.parent = above;
      node.routine = routine;
      node.place = place;
      node.is_apart = is_apart;
      naive[above - 1].children.push_back(static_cast<uint32_t>(naive.size()));
    }
    const ChildSpace space = is_apart ? ChildSpace::kApart : ChildSpace::kMerged;
    ASSERT_EQ(tree.Child(NodeId(above), RoutineId(routine), space, place).value, known->second);
    ASSERT_EQ(tree.size(), naive.size());
  }

  void Count(uint32_t at) {
    NaiveNode& node = naive[at - 1];
    const NodeId id(at);
    // Times are known of the first nodes only, as those of samples are.
    const bool is_first = at < 60;
    const auto number = static_cast<int64_t>(random_.Below(uint64_t{1} << random_.Below(40)));
    switch (random_.Below(6)) {
      case 0:
        tree.AddCalls(id, number, number / 2);
        node.calls += number;
        node.jitted += number / 2;
        break;
      case 1:
        if (!is_first) break;
        tree.AddBase(id, number);
        tree.AddOff(id, number / 3);
        node.base += number;
        node.off += number / 3;
        break;
      case 2:
        if (!is_first) break;
        tree.AddTicks(id, 3);
        tree.AddSamples(id, 1);
        node.ticks += 3;
        node.samples += 1;
        break;
      case 3:
        tree.AddExtremes(id, number / 2, number);
        node.min = node.has_extremes ? std::min(node.min, number / 2) : number / 2;
        node.max = node.has_extremes ? std::max(node.max, number) : number;
        node.has_extremes = true;
        break;
      case 4:
        if (node.routine == 0) break;
        tree.SetOriginEvent(id);
        node.is_event = true;
        break;
      default:
        break;
    }
  }

  Random random_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, bool>, size_t> children_;
};

void ExpectSame(const CallTree& tree, const std::vector<NaiveNode>& naive, uint32_t at) {
  const CallNode& node = tree.node(NodeId(at));
  const NaiveNode& other = naive[at - 1];
  EXPECT_EQ(node.routine.value, other.routine);
  EXPECT_EQ(node.parent.value, other.parent);
  EXPECT_EQ(node.thread.value, other.thread);
  EXPECT_EQ(node.place, other.place);
  EXPECT_EQ(node.space == ChildSpace::kApart, other.is_apart);
  EXPECT_EQ(node.origin, other.routine == 0 ? NodeOrigin::kThread
                         : other.is_event   ? NodeOrigin::kEvent
                                            : NodeOrigin::kSample);
  EXPECT_EQ(std::tuple(node.calls, node.calls_jitted, node.base, node.off),
            std::tuple(other.calls, other.jitted, other.base, other.off));
  EXPECT_EQ(std::tuple(node.base_ticks, node.samples, node.has_extremes),
            std::tuple(other.ticks, other.samples, other.has_extremes));
  EXPECT_EQ(std::tuple(node.min_base, node.max_base), std::tuple(other.min, other.max));
  std::vector<uint32_t> children;
  for (NodeId child = node.first_child; child; child = tree.node(child).next_sibling) {
    children.push_back(child.value);
  }
  EXPECT_EQ(children, other.children);
}

// What the node and all below it have; and how often its routine is open.
NodeTotals TotalsOf(const std::vector<NaiveNode>& naive, uint32_t at) {
  NodeTotals totals;
  for (uint32_t other = at; other <= naive.size(); ++other) {
    uint32_t above = other;
    while (above > at) above = naive[above - 1].parent;
    if (above != at) continue;
    totals.cum += naive[other - 1].base;
    totals.off += naive[other - 1].off;
    totals.cum_ticks += naive[other - 1].ticks;
  }
  for (uint32_t above = naive[at - 1].parent; above != 0; above = naive[above - 1].parent) {
    const uint32_t routine = naive[at - 1].routine;
    if (naive[above - 1].routine == routine) ++totals.recursion_level;
  }
  return totals;
}

TEST(CallTreeTest, IsTheSimpleTree) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TwoTrees trees(seed);
    for (int i = 0; i < 1'000; ++i) trees.Step();
    const postproc::TreeTotals totals = trees.tree.ComputeTotals();
    for (uint32_t at = 1; at <= trees.naive.size(); ++at) {
      ExpectSame(trees.tree, trees.naive, at);
      const NodeTotals expected = TotalsOf(trees.naive, at);
      const NodeTotals found = totals[at - 1];
      ASSERT_EQ(
          std::tuple(found.cum, found.off, found.cum_ticks, found.recursion_level),
          std::tuple(expected.cum, expected.off, expected.cum_ticks, expected.recursion_level))
          << seed << " " << at;
    }
    if (HasFailure()) return;
  }
}

// Instances are found while the tree grows.
TEST(CallTreeTest, FindsTheNodesOfARoutine) {
  TwoTrees trees(7);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 200; ++i) trees.Step();
    for (uint32_t routine = 1; routine <= kRoutines + 1; ++routine) {
      std::vector<uint32_t> expected, found;
      for (uint32_t at = 1; at <= trees.naive.size(); ++at) {
        if (trees.naive[at - 1].routine == routine) expected.push_back(at);
      }
      for (NodeId at = trees.tree.first_instance(RoutineId(routine)); at;
           at = trees.tree.next_instance(at)) {
        found.push_back(at.value);
      }
      ASSERT_EQ(found, expected);
    }
  }
}

// Sums that are made without arcs are those of the arcs; rows are those of single nodes.
TEST(CallTreeTest, ArcsAndRowsHoldAllNodes) {
  postproc::TraceModel model;
  for (uint32_t i = 1; i <= kRoutines; ++i) model.InternRoutine("r" + std::to_string(i));
  for (int i = 1; i <= 3; ++i) {
    postproc::ThreadInfo thread;
    thread.name = "t" + std::to_string(i);
    model.AddThread(thread);
  }
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    TwoTrees trees(seed);
    for (int i = 0; i < 2'000; ++i) trees.Step();
    const postproc::TreeTotals totals = trees.tree.ComputeTotals();
    for (const char* const metric : {"", "calls", "time", "ticks"}) {
      const postproc::Measure measure = postproc::ChooseMeasure(metric, model, trees.tree);
      const postproc::FlatProfile flat(model, trees.tree, totals, measure);
      std::vector<postproc::FlatRow> rows(flat.rows().size());
      for (uint32_t i = 1; i <= trees.tree.size(); ++i) {
        rows[flat.RowOf(NodeId(i))].Add(NodeId(i), trees.tree.node(NodeId(i)), totals[i - 1],
                                        measure);
      }
      for (size_t row = 0; row < rows.size(); ++row) {
        const postproc::FlatRow& sums = flat.rows()[row];
        ASSERT_EQ(std::tuple(sums.calls, sums.calls_jitted, sums.cum, sums.cum2, sums.measure.cum,
                             sums.min_base, sums.max_base, sums.instrumented),
                  std::tuple(rows[row].calls, rows[row].calls_jitted, rows[row].cum, rows[row].cum2,
                             rows[row].measure.cum, rows[row].min_base, rows[row].max_base,
                             rows[row].instrumented));
      }
      const postproc::ArcFlow arcs(trees.tree, totals, flat, measure);
      ASSERT_EQ(arcs.Check().held(), 4);
      const std::vector<postproc::Stanza> all = arcs.Stanzas(flat.Sorted());
      ASSERT_EQ(arcs.Check(all).held(), 4);
      // One alone has the same arcs.
      const uint32_t last = all.back().self;
      ASSERT_EQ(arcs.Stanzas(std::span(&last, 1)).front().arcs.size(), all.back().arcs.size());
    }
  }
}

}  // namespace
}  // namespace jtrace
