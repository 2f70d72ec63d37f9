#include "agent/metrics/allocation_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "agent/calls/trees/tree_collector.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::metrics {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;

class ObjectPathsTest : public ::testing::Test {
 protected:
  ObjectPathsTest() {
    signal_safe::published_arena.store(arena_.get());
    paths_.Begin();
  }
  ~ObjectPathsTest() override { signal_safe::published_arena.store(nullptr); }

  // The routines of a path, the innermost last.
  static std::vector<uint32_t> RoutinesOf(const AllocationPaths& paths, uint32_t path) {
    std::vector<AllocationPaths::Path> known;
    std::vector<AllocationPaths::Owner> owners;
    paths.CopyTo(known, owners);
    std::vector<uint32_t> routines;
    for (; known[path].parent != 0; path = known[path].parent) {
      routines.insert(routines.begin(), known[path].routine);
    }
    return routines;
  }
  std::vector<uint32_t> RoutinesOf(uint32_t path) const { return RoutinesOf(paths_, path); }
  std::vector<AllocationPaths::Owner> Owners() const {
    std::vector<AllocationPaths::Path> known;
    std::vector<AllocationPaths::Owner> owners;
    paths_.CopyTo(known, owners);
    return owners;
  }

  TestArena arena_;
  AllocationPaths paths_;
};

TEST_F(ObjectPathsTest, PathsAreThoseOfOpenCalls) {
  testing::ProbeDouble thread(arena_.get(), 7);
  const uint32_t root = paths_.CurrentPath(7, false);
  EXPECT_TRUE(RoutinesOf(root).empty());
  const uint64_t outer = thread.Enter(3);
  thread.Enter(4);
  const uint64_t again = thread.Enter(4);
  const uint32_t inner = paths_.CurrentPath(7, false);
  EXPECT_EQ(RoutinesOf(inner), (std::vector<uint32_t>{3, 4, 4}));
  EXPECT_EQ(paths_.CurrentPath(7, false), inner);
  thread.Exit(again);
  EXPECT_EQ(RoutinesOf(paths_.CurrentPath(7, false)), (std::vector<uint32_t>{3, 4}));
  thread.Exit(outer);
  EXPECT_EQ(paths_.CurrentPath(7, false), root);
  ASSERT_EQ(Owners().size(), 1u);
  EXPECT_TRUE(Owners()[0].has_tree);
}

TEST_F(ObjectPathsTest, ThreadsHaveTheirOwnPaths) {
  testing::ProbeDouble one(arena_.get(), 7);
  testing::ProbeDouble other(arena_.get(), 8);
  one.Enter(3);
  other.Enter(3);
  EXPECT_NE(paths_.CurrentPath(7, false), paths_.CurrentPath(8, false));
  testing::ProbeDouble first(arena_.get(), 20, /*is_virtual=*/true);
  testing::ProbeDouble second(arena_.get(), 21, /*is_virtual=*/true);
  first.Enter(3);
  second.Enter(3);
  EXPECT_EQ(paths_.CurrentPath(20, true), paths_.CurrentPath(21, true));
  EXPECT_EQ(Owners().size(), 3u);
}

TEST_F(ObjectPathsTest, WhatHasNoPathIsNowhereOrAtTheRoot) {
  EXPECT_EQ(paths_.CurrentPath(0, false), AllocationPaths::kNoPath);
  paths_.CurrentPath(9, false);
  ASSERT_EQ(Owners().size(), 1u);
  EXPECT_FALSE(Owners()[0].has_tree);
  testing::ProbeDouble thread(arena_.get(), 9);
  thread.Enter(3);
  paths_.CurrentPath(9, false);
  EXPECT_TRUE(Owners()[0].has_tree);
  thread.End();
  EXPECT_TRUE(RoutinesOf(paths_.CurrentPath(9, false)).empty());
  EXPECT_TRUE(Owners()[0].has_tree);
}

TEST_F(ObjectPathsTest, WhatIsTooMuchIsCountedApart) {
  AllocationPaths few(/*max_paths=*/5, /*max_owners=*/2);
  few.Begin();
  testing::ProbeDouble thread(arena_.get(), 7);
  thread.Enter(3);
  const uint32_t kept = few.CurrentPath(7, false);
  thread.Enter(4);
  EXPECT_GE(few.CurrentPath(7, false), AllocationPaths::kFirstPath);
  thread.Enter(5);
  EXPECT_EQ(few.CurrentPath(7, false), AllocationPaths::kTooMany);
  thread.Enter(6);
  EXPECT_EQ(few.CurrentPath(7, false), AllocationPaths::kTooMany);
  EXPECT_EQ(RoutinesOf(few, kept), (std::vector<uint32_t>{3}));
}

TEST_F(ObjectPathsTest, ThreadsBeyondTheFirstShareTheirPaths) {
  AllocationPaths few(AllocationPaths::kMaxPaths, /*max_owners=*/1);
  few.Begin();
  const uint32_t first = few.CurrentPath(1, false);
  EXPECT_NE(few.CurrentPath(2, false), first);
  EXPECT_EQ(few.CurrentPath(2, false), few.CurrentPath(3, false));
  EXPECT_NE(few.CurrentPath(4, true), few.CurrentPath(3, false));
  EXPECT_EQ(few.CurrentPath(1, false), first);
}

// The memory of a pruned node becomes the node of another path.
TEST_F(ObjectPathsTest, ReusedNodesAreOtherPaths) {
  calls::TreeCollector trees(arena_.get(),
                             {.limits = {.arena_bytes = 1 << 12, .prune_percent = 50}});
  testing::ProbeDouble thread(arena_.get(), 7);
  std::vector<uint64_t> refs;
  for (uint32_t routine = 1; routine <= 400; ++routine) {
    const uint64_t outer = thread.Enter(1000 + routine % 7);
    const uint64_t inner = thread.Enter(routine);
    EXPECT_EQ(RoutinesOf(paths_.CurrentPath(7, false)),
              (std::vector<uint32_t>{1000 + routine % 7, routine}));
    refs.push_back(thread.current_ref());
    thread.Exit(inner);
    thread.Exit(outer);
    trees.Poll();
    trees.Collect([](const calls::TreeUpdate&) {});
    thread.Prune();
  }
  const size_t all = refs.size();
  std::sort(refs.begin(), refs.end());
  refs.erase(std::unique(refs.begin(), refs.end()), refs.end());
  EXPECT_LT(refs.size(), all) << "no node was used again";
}

TEST_F(ObjectPathsTest, ARecordingKnowsNothingOfTheOneBefore) {
  testing::ProbeDouble thread(arena_.get(), 7);
  thread.Enter(3);
  const uint32_t before = paths_.CurrentPath(7, false);
  paths_.Allocated(before, 16);
  paths_.Begin();
  thread.Enter(4);
  const uint32_t path = paths_.CurrentPath(7, false);
  EXPECT_EQ(RoutinesOf(path), (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(paths_.Read(before).allocated.objects, 0u);
}

TEST_F(ObjectPathsTest, ACallbackOfTheRecordingBeforeFindsItsMemory) {
  testing::ProbeDouble thread(arena_.get(), 7);
  uint32_t last = 0;
  for (uint32_t routine = 1; routine <= 5000; ++routine) {
    const uint64_t token = thread.Enter(routine);
    last = paths_.CurrentPath(7, false);
    thread.Exit(token);
  }
  paths_.Allocated(last, 16);
  paths_.Begin();
  EXPECT_EQ(paths_.Read(last).allocated.objects, 0u);
  paths_.Freed(last, 16);
}

TEST_F(ObjectPathsTest, CountsAreExactWhateverTheThreads) {
  constexpr int kThreads = 4;
  constexpr uint64_t kObjects = 20'000;
  std::vector<std::unique_ptr<testing::ProbeDouble>> doubles;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    // Virtual: all of them use the same paths.
    doubles.push_back(std::make_unique<testing::ProbeDouble>(arena_.get(), 100 + i, true));
    threads.emplace_back([this, i, probes = doubles.back().get()] {
      for (uint64_t object = 0; object < kObjects; ++object) {
        const uint64_t token = probes->Enter(1 + object % 3);
        const uint32_t path = paths_.CurrentPath(100 + i, true);
        paths_.Allocated(path, 24);
        if (object % 2 == 0) paths_.Freed(path, 24);
        probes->Exit(token);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  AllocationCounts sum;
  std::vector<AllocationPaths::Path> known;
  std::vector<AllocationPaths::Owner> owners;
  paths_.CopyTo(known, owners);
  EXPECT_EQ(known.size(), AllocationPaths::kFirstPath + 1 + 3u);
  for (uint32_t path = 0; path < known.size(); ++path) {
    sum.allocated.objects += paths_.Read(path).allocated.objects;
    sum.freed.bytes += paths_.Read(path).freed.bytes;
  }
  EXPECT_EQ(sum.allocated.objects, kThreads * kObjects);
  EXPECT_EQ(sum.freed.bytes, kThreads * kObjects / 2 * 24);
}

}  // namespace
}  // namespace jtrace::metrics
