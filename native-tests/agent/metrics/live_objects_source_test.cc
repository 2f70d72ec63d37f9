#include "agent/metrics/live_objects_source.h"

#include <map>
#include <memory>
#include <string>

#include "agent/signal_safe/thread_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/agent/calls/trees/probe_double.h"
#include "postproc/reader/agent_trees.h"

namespace jtrace::metrics {
namespace {

using metrics::AllocationPaths;
using metrics::Metric;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::ProbeDouble;
using testing::TestArena;
using ::testing::UnorderedElementsAre;

// "thread/routine/routine" to "live freed", of objects.
using Rows = std::map<std::string, std::string>;

class LiveObjectsSourceTest : public ::testing::Test {
 protected:
  LiveObjectsSourceTest() {
    signal_safe::published_arena.store(arena_.get());
    paths_.Begin();
  }
  ~LiveObjectsSourceTest() override { signal_safe::published_arena.store(nullptr); }

  void Seal() {
    proto::Chunk chunk;
    source_.AddChanges(0, chunk);
    for (const proto::TreeDelta& delta : chunk.tree()) {
      trees_->Add(delta, [this](uint32_t name) { return name == objects_ ? "live" : "freed"; });
    }
    deltas_ = chunk.tree_size();
  }
  void BeginFile() {
    source_.BeginFile();
    trees_ = std::make_unique<postproc::AgentTrees>(model_, stats_);
  }
  uint32_t Make(uint64_t tid, bool is_virtual = false) {
    const uint32_t path = paths_.CurrentPath(tid, is_virtual);
    paths_.Allocated(path, 16);
    return path;
  }

  // What a reader of the file knows.
  Rows Read() {
    Rows rows;
    for (const uint32_t node : trees_->node_order()) {
      std::string path;
      for (uint32_t at = node; at != 0; at = trees_->FindNode(at)->parent) {
        path = "/" + std::to_string(trees_->FindNode(at)->routine) + path;
      }
      const postproc::TreeNode it = *trees_->FindNode(node);
      if (!it.counts.metrics.empty()) rows[NameOf(it.thread) + path] = Text(it.counts);
    }
    for (const auto& root : trees_->roots()) rows[NameOf(root.thread)] = Text(root.counts);
    return rows;
  }
  std::string NameOf(uint32_t thread) {
    if (thread == groups_.NumberOfGroup(groups_.Process())) return "process";
    if (thread == groups_.NumberOfGroup(groups_.EndedThreads())) return "ended";
    if (thread == groups_.NumberOfGroup(groups_.VirtualThreads())) return "virtual";
    return std::to_string(thread);
  }
  std::string Text(const postproc::NodeCounts& counts) {
    int64_t live = 0;
    int64_t freed = 0;
    for (const auto& [metric, value] : counts.metrics) {
      (metric == model_.InternMetric("live") ? live : freed) = value;
    }
    return std::to_string(live) + " " + std::to_string(freed);
  }

  TestArena arena_;
  AllocationPaths paths_;
  RecordingClock clock_;
  trace::RecordEncoder encoder_{{}};
  jvm::ThreadTable table_;
  jvm::ThreadRegistry threads_{table_, nullptr, clock_, encoder_};
  jvm::ThreadTreeGroups groups_{threads_, encoder_};
  Losses losses_;
  uint32_t last_node_ = 0;
  LiveObjectsSource source_{paths_,
                            threads_,
                            groups_,
                            encoder_,
                            losses_,
                            {.metrics = {Metric::kLiveObjects, Metric::kFreedObjects},
                             .next_node = [this] { return ++last_node_; }}};
  const uint32_t objects_ = encoder_.String("live.objects");
  postproc::TraceModel model_;
  postproc::ImportStats stats_;
  std::unique_ptr<postproc::AgentTrees> trees_ =
      std::make_unique<postproc::AgentTrees>(model_, stats_);
  int deltas_ = 0;
};

TEST_F(LiveObjectsSourceTest, ObjectsAreLiveAndThenFreedWhereTheyWereMade) {
  testing::ProbeDouble thread(arena_.get(), 7, /*is_virtual=*/true);
  Make(7, true);
  const uint64_t outer = thread.Enter(3);
  thread.Enter(4);
  const uint32_t path = Make(7, true);
  Make(7, true);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual", "1 0"), Pair("virtual/3/4", "2 0")));
  paths_.Freed(path, 16);
  thread.Exit(outer);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual", "1 0"), Pair("virtual/3/4", "1 1")));
  paths_.Freed(path, 16);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual", "1 0"), Pair("virtual/3/4", "0 2")));
  Seal();
  EXPECT_EQ(deltas_, 0) << "nothing has changed";
  EXPECT_THAT(stats_.Occurred(), IsEmpty());
}

TEST_F(LiveObjectsSourceTest, WhatBelongsToNoTreeIsTheProcesss) {
  Make(0);
  Make(8);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("process", "2 0")));
  // Now thread 8 has a tree, and what it made before is in it.
  testing::ProbeDouble thread(arena_.get(), 8);
  Make(8);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("process", "1 0"), Pair("ended", "2 0")));
}

TEST_F(LiveObjectsSourceTest, AFileHasWhatWasFreedInIt) {
  testing::ProbeDouble thread(arena_.get(), 7, /*is_virtual=*/true);
  thread.Enter(3);
  const uint32_t kept = Make(7, true);
  paths_.Freed(Make(7, true), 16);
  thread.Enter(4);
  paths_.Freed(Make(7, true), 16);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual/3", "1 1"), Pair("virtual/3/4", "0 1")));
  thread.End();
  BeginFile();
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual/3", "1 0")));
  paths_.Freed(kept, 16);
  Seal();
  EXPECT_THAT(Read(), UnorderedElementsAre(Pair("virtual/3", "0 1")));
  BeginFile();
  Seal();
  EXPECT_THAT(Read(), IsEmpty());
}

TEST_F(LiveObjectsSourceTest, NothingIsKnownWhereTheJvmRefuses) {
  paths_.End();
  Seal();
  EXPECT_EQ(deltas_, 0);
}

}  // namespace
}  // namespace jtrace::metrics
