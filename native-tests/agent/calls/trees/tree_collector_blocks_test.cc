// Counters of blocks by call path: what is reported adds up to what was counted, whatever happens
// to nodes, threads and files.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/node_search.h"
#include "agent/calls/trees/tree_collector.h"
#include "agent/calls/trees/tree_values.h"
#include "agent/signal_safe/arena_ref.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/tree_node.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "native-tests/agent/calls/trees/tree_reader.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;
using ::jtrace::testing::TreeReader;

// Counts by id.
using Counts = std::map<uint32_t, uint64_t>;

// Routines 1 to 4 have 2, 4, 6 and 8 counters; those from 100 on have 5.
uint32_t SizeOf(uint32_t routine) { return routine < 100 ? 2 * routine : 5; }
uint32_t FirstOf(uint32_t routine) { return 1000 + 10 * routine; }

// Enters, exits and counts at random.
class BlockWalker {
 public:
  BlockWalker(ProbeDouble& thread, unsigned seed) : thread_(thread), random_(seed) {}

  void Step() {
    if (!path_.empty() && random_() % 3 != 0) Hit();
    const bool enters = path_.size() < 8 && random_() % 2 == 0;
    if (enters) {
      const uint32_t routine = random_() % 8 == 0 ? next_routine_++ : 1 + random_() % 4;
      path_.emplace_back(routine, thread_.Enter(routine));
    } else if (!path_.empty()) {
      thread_.Exit(path_.back().second);
      path_.pop_back();
    }
  }
  void Hit() {
    const uint32_t routine = path_.back().first;
    // Now and then other code of the routine runs.
    const uint32_t first = FirstOf(routine) + (random_() % 16 == 0 ? 100'000 : 0);
    const uint32_t place = random_() % SizeOf(routine);
    thread_.Hit(first, SizeOf(routine), place);
    ++counts[first + place];
  }

  Counts counts;

 private:
  ProbeDouble& thread_;
  std::mt19937 random_;
  uint32_t next_routine_ = 100;
  std::vector<std::pair<uint32_t, uint64_t>> path_;
};

// What a trace's reader knows: the last totals of nodes that were not dropped.
class BlockReader {
 public:
  void Read(TreeCollector& collector, bool reports_deferred = true) {
    collector.Poll();
    collector.Collect([&](const TreeUpdate& update) { tree.Read(update); }, reports_deferred);
    for (const PathUpdate& update : collector.path_blocks().RemoveUpdates()) {
      EXPECT_TRUE(tree.nodes.contains(update.node)) << "not defined";
      for (const PathCounts::OfCode& code : update.counts.codes) {
        at[update.node][code.first] = code.counts;
      }
      if (update.counts.out_of_memory) ++out_of_memory;
    }
  }
  void ReadAll(TreeCollector& collector, bool ends_file = false) {
    collector.path_blocks().Request(ends_file);
    collector.ReportAll();
    Read(collector);
  }
  Counts Sum() const {
    Counts sums;
    for (const auto& [node, codes] : at) {
      if (tree.pruned.contains(node)) continue;
      for (const auto& [first, counts] : codes) {
        for (uint32_t i = 0; i < counts.size(); ++i) {
          if (counts[i] != 0) sums[first + i] += counts[i];
        }
      }
    }
    return sums;
  }

  TreeReader tree;
  std::map<uint32_t, std::map<uint32_t, std::vector<uint64_t>>> at;  // by node and first id
  int out_of_memory = 0;
};

class TreeCollectorBlocksTest : public ::testing::Test {
 protected:
  std::unique_ptr<TreeCollector> Make(const TreeLimits& limits = {},
                                      TreeCollector::GroupOf group_of = nullptr) {
    auto reserved = BasicBlockCounters::Reserve(/*by_path=*/true);
    EXPECT_TRUE(reserved.ok());
    counters_ = *std::move(reserved);
    return std::make_unique<TreeCollector>(
        arena_.get(),
        TreeSettings{
            .group_of = std::move(group_of), .limits = limits, .path_blocks = counters_.get()});
  }
  std::unique_ptr<ProbeDouble> Thread(uint64_t tid) {
    return std::make_unique<ProbeDouble>(arena_.get(), tid, false, false, PathMetrics(),
                                         /*has_blocks=*/true);
  }

  TestArena arena_;
  std::unique_ptr<BasicBlockCounters> counters_;
};

TEST_F(TreeCollectorBlocksTest, NodesHaveTheirOwnCounts) {
  const auto collector = Make();
  const auto thread = Thread(1);
  const uint64_t root = thread->Enter(5);
  thread->Hit(50, 2, 1);
  const uint64_t five = thread->Enter(6);
  thread->Hit(60, 7, 6);
  thread->Hit(60, 7, 6);
  thread->Exit(five);
  thread->Hit(50, 2, 1);
  thread->Exit(root);
  thread->Enter(6);
  thread->Hit(60, 7, 0);
  BlockReader reader;
  reader.Read(*collector);
  EXPECT_TRUE(reader.at.empty()) << "not due";
  reader.ReadAll(*collector);
  std::map<std::string, std::vector<uint64_t>> by_path;
  for (const auto& [node, codes] : reader.at) {
    by_path[reader.tree.nodes[node].path] = codes.begin()->second;
  }
  EXPECT_EQ(by_path["/5"], (std::vector<uint64_t>{0, 2}));
  EXPECT_EQ(by_path["/5/6"], (std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(by_path["/6"], (std::vector<uint64_t>{1, 0, 0, 0, 0, 0, 0}));
  reader.at.clear();
  reader.ReadAll(*collector);
  EXPECT_TRUE(reader.at.empty()) << "nothing changed";
  thread->Hit(60, 7, 0);
  reader.ReadAll(*collector);
  EXPECT_EQ(reader.at.size(), 1u) << "no call, but a block";
}

TEST_F(TreeCollectorBlocksTest, ThreadsThatEndLeaveAll) {
  const auto collector = Make();
  BlockReader reader;
  Counts expected;
  for (uint64_t tid = 1; tid < 20; ++tid) {
    const auto thread = Thread(tid);
    BlockWalker walker(*thread, static_cast<unsigned>(tid));
    for (int i = 0; i < 300; ++i) walker.Step();
    thread->End();
    for (const auto& [id, count] : walker.counts) expected[id] += count;
    reader.Read(*collector);
  }
  EXPECT_EQ(reader.Sum(), expected);
}

TEST_F(TreeCollectorBlocksTest, DroppedNodesLeaveTheirCountsToSums) {
  const auto collector = Make({.arena_bytes = 300 * sizeof(signal_safe::Node), .prune_percent = 1});
  const auto thread = Thread(1);
  BlockWalker walker(*thread, 7);
  BlockReader reader;
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 60; ++i) walker.Step();
    thread->Prune();
    if (round % 5 == 0) collector->path_blocks().Request(/*ends_file=*/false);
    reader.Read(*collector, round % 3 == 0);
  }
  reader.ReadAll(*collector);
  EXPECT_GT(collector->pruned_nodes(), 100u);
  EXPECT_EQ(reader.Sum(), walker.counts);
}

TEST_F(TreeCollectorBlocksTest, GroupsAddUpTheirMembers) {
  const auto collector = Make({}, [](uint64_t, bool) { return 3; });
  BlockReader reader;
  std::vector<std::unique_ptr<ProbeDouble>> threads;
  std::vector<BlockWalker> walkers;
  for (uint64_t tid = 1; tid <= 6; ++tid) {
    threads.push_back(Thread(tid));
    walkers.emplace_back(*threads.back(), static_cast<unsigned>(tid));
  }
  constexpr int kEndOfOne = 30;
  for (int round = 0; round < 60; ++round) {
    for (size_t thread = 0; thread < walkers.size(); ++thread) {
      if (thread == 2 && round > kEndOfOne) continue;
      for (int i = 0; i < 20; ++i) walkers[thread].Step();
    }
    if (round % 4 == 0) collector->path_blocks().Request(/*ends_file=*/false);
    if (round == kEndOfOne) threads[2]->End();
    reader.Read(*collector);
  }
  reader.ReadAll(*collector);
  Counts expected;
  for (const BlockWalker& walker : walkers) {
    for (const auto& [id, count] : walker.counts) expected[id] += count;
  }
  EXPECT_EQ(reader.Sum(), expected);
}

TEST_F(TreeCollectorBlocksTest, FilesAddUp) {
  for (const bool grouped : {false, true}) {
    const auto collector = Make({}, [&](uint64_t, bool) { return grouped ? 3 : 0; });
    const auto thread = Thread(grouped ? 2 : 1);
    BlockWalker walker(*thread, 5);
    Counts found;
    for (int file = 0; file < 6; ++file) {
      BlockReader reader;
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 30; ++i) walker.Step();
        // Some nodes change after that and before the file ends, others do not.
        if (round % 3 == 1) collector->path_blocks().Request(/*ends_file=*/false);
        reader.Read(*collector);
      }
      reader.ReadAll(*collector, /*ends_file=*/true);
      for (const auto& [id, count] : reader.Sum()) found[id] += count;
      collector->BeginFile();
    }
    EXPECT_EQ(found, walker.counts);
  }
}

// The next recording has other ids for the same counters, which the code of the earlier one still
// uses until then.
TEST_F(TreeCollectorBlocksTest, EarlierRecordingsAreNotCounted) {
  const auto collector = Make();
  const auto thread = Thread(1);
  thread->Enter(5);
  for (int i = 0; i < 2; ++i) thread->Hit(1, 2, 0);
  BlockReader reader;
  reader.ReadAll(*collector, /*ends_file=*/true);
  EXPECT_EQ(reader.Sum(), (Counts{{1, 2}}));
  EXPECT_EQ(counters_->NewIds(100), 1u);
  counters_->BeginRecording();
  collector->BeginRecording();
  for (int i = 0; i < 7; ++i) thread->Hit(1, 2, 1);
  BlockReader next;
  next.ReadAll(*collector);
  EXPECT_EQ(next.Sum(), Counts{});
  // As JTracePaths.setOfEarlier does.
  auto& blocks = *reinterpret_cast<signal_safe::NodeBlocks*>(thread->state()->current +
                                                             sizeof(signal_safe::Node));
  blocks.own[0] = blocks.own[1] = 0;
  blocks.set.range = uint64_t{2} << 32 | 101;
  for (int i = 0; i < 6; ++i) thread->Hit(101, 2, 0);
  thread->Hit(101, 2, 1);
  thread->Hit(101, 2, 1);
  thread->Hit(101, 2, 1);
  next.ReadAll(*collector);
  EXPECT_EQ(next.Sum(), (Counts{{101, 6}, {102, 3}})) << "as many as before";
  thread->Hit(101, 2, 0);
  thread->Hit(101, 2, 1);
  next.ReadAll(*collector);
  EXPECT_EQ(next.Sum(), (Counts{{101, 7}, {102, 4}}));
}

TEST_F(TreeCollectorBlocksTest, ReportsWhatWasNotKept) {
  const auto collector = Make();
  const auto thread = Thread(1);
  thread->Enter(5);
  thread->LoseBlocks();
  BlockReader reader;
  reader.ReadAll(*collector);
  reader.ReadAll(*collector);
  EXPECT_EQ(reader.out_of_memory, 1);
}

TEST_F(TreeCollectorBlocksTest, FindsTheNodesOfOpenActivations) {
  const auto thread = Thread(1);
  thread->Enter(5);
  const uint64_t other = thread->Enter(6);
  const uint64_t gone = thread->current_ref();
  thread->Exit(other);
  thread->Enter(7);  // out of scope: not among the activations
  thread->Enter(8);
  const auto eight = static_cast<signal_safe::Ref>(thread->current_ref());
  const auto seven = signal_safe::At<signal_safe::Node>(arena_.get(), eight)->parent;
  const auto five = signal_safe::At<signal_safe::Node>(arena_.get(), seven)->parent;
  thread->FillSlots();
  const auto find = [&](std::vector<uint32_t> routines) {
    return FindOpenNodes(arena_.get(), *thread->state(), routines);
  };
  EXPECT_EQ(find({5, 8}), (std::vector<signal_safe::Ref>{five, eight}));
  EXPECT_EQ(find({5, 6}),
            (std::vector<signal_safe::Ref>{five, static_cast<signal_safe::Ref>(gone)}))
      << "the thread went on";
  EXPECT_EQ(find({5, 9, 8}), (std::vector<signal_safe::Ref>{five, 0, eight}))
      << "9 began without a probe";
}

}  // namespace
}  // namespace jtrace::calls
