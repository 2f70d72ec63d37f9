// Trees whose links are not those of trees: what reads them must end.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "agent/calls/trees/node_search.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/root_path.h"
#include "agent/signal_safe/tree_node.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

class BrokenTreeTest : public ::testing::Test {
 protected:
  static constexpr int kDeep = 50;

  signal_safe::Node& At(signal_safe::Ref ref) {
    return *signal_safe::At<signal_safe::Node>(arena_.get(), ref);
  }

  // The path of `thread` to its current node, which is `kDeep` calls deep; the outermost first.
  std::vector<signal_safe::Ref> GoDeep(ProbeDouble& thread) {
    std::vector<signal_safe::Ref> path;
    for (int i = 0; i < kDeep; ++i) {
      thread.Enter(10 + i);
      path.push_back(static_cast<signal_safe::Ref>(thread.current_ref()));
    }
    return path;
  }

  // Everything that walks up from nodes.
  void ReadAll(ProbeDouble& thread, TreeCollector& collector) {
    for (int round = 0; round < 3; ++round) {
      collector.NumberOf(thread.current_ref());
      collector.Poll();
      collector.Collect([](const TreeUpdate&) {});
      thread.Exit(thread.Enter(1000));
    }
    const std::vector<uint32_t> routines = {10, 11, 12};
    FindOpenNodes(arena_.get(), *thread.state(), routines);
    for (signal_safe::Ref ref = thread.state()->root; ref != 0; ref = At(ref).next) {
      FindChild(arena_.get(), At(ref), 5000);
    }
  }

  TestArena arena_;
};

TEST_F(BrokenTreeTest, ClimbsEndAtTheRootAndInCircles) {
  ProbeDouble thread(arena_.get(), 1);
  const std::vector<signal_safe::Ref> path = GoDeep(thread);
  const auto steps = [&] {
    int count = 0;
    for (signal_safe::RootPath at(arena_.get(), At(path.back())); at.Up(); ++count) continue;
    return count;
  };
  EXPECT_EQ(steps(), kDeep);
  for (int to = 0; to < kDeep; ++to) {
    At(path.front()).parent = path[static_cast<size_t>(to)];
    EXPECT_GE(steps(), kDeep - 1) << to;
    EXPECT_LE(steps(), 4 * kDeep) << to;
  }
  At(path.front()).parent = UINT32_MAX;
  EXPECT_EQ(steps(), kDeep - 1);
}

// As when memory of a thread that ended is used again, while another one is still in its tree.
TEST_F(BrokenTreeTest, ReadersEndInCircles) {
  for (const uint32_t group : {0u, 7u}) {
    TreeCollector collector(arena_.get(), {.group_of = [&](uint64_t, bool) { return group; }});
    ProbeDouble thread(arena_.get(), 1 + group);
    const std::vector<signal_safe::Ref> path = GoDeep(thread);
    At(path.front()).parent = path.back();
    ReadAll(thread, collector);
  }
}

TEST_F(BrokenTreeTest, ReadersEndInReleasedMemory) {
  for (const uint32_t group : {0u, 7u}) {
    TreeCollector collector(arena_.get(), {.group_of = [&](uint64_t, bool) { return group; }});
    ProbeDouble thread(arena_.get(), 1 + group);
    const std::vector<signal_safe::Ref> path = GoDeep(thread);
    ProbeDouble gone(arena_.get(), 100 + group);
    gone.Enter(5);
    const auto reused = static_cast<signal_safe::Ref>(gone.current_ref());
    std::memset(static_cast<void*>(&At(reused)), 0, sizeof(signal_safe::Node));
    gone.state()->last = gone.state()->root;
    At(gone.state()->root).next = 0;
    At(path.front()).parent = reused;
    ReadAll(thread, collector);
    std::memset(static_cast<void*>(&At(path[20])), 0, sizeof(signal_safe::Node));
    At(path[19]).next = path[21];
    ReadAll(thread, collector);
  }
}

// A virtual thread below the node of its carrier, which has a tree of its own.
TEST_F(BrokenTreeTest, AThreadInTheTreeOfAnotherIsCountedInItsOwnGroup) {
  TreeCollector collector(
      arena_.get(), {.group_of = [](uint64_t, bool is_virtual) { return is_virtual ? 7 : 0; }});
  TreeReader reader;
  ProbeDouble carrier(arena_.get(), 1), virtual_thread(arena_.get(), 2, true);
  carrier.Enter(10);
  virtual_thread.Exit(carrier.state()->current);
  virtual_thread.Enter(20);
  collector.Poll();
  collector.Collect([&](const TreeUpdate& update) { reader.Read(update); });
  EXPECT_EQ(reader.Calls(), (std::map<std::string, uint64_t>{{"/10", 1}, {"/20", 1}}));
}

}  // namespace
}  // namespace jtrace::calls
