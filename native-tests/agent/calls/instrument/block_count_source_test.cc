// Open activations that are in two files: the nodes of the first file's end.
#include "agent/calls/instrument/block_count_source.h"

#include <cstring>
#include <memory>
#include <vector>

#include "agent/calls/trees/node_state.h"
#include "gtest/gtest.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::calls {
namespace {

constexpr uint32_t kRoutine = 5;
constexpr uint64_t kTid = 7;

class CountedBlocksTest : public ::testing::Test {
 protected:
  CountedBlocksTest() {
    classfile::RewriteResult result;
    result.class_name = "A";
    classfile::MethodOutcome& run = result.methods.emplace_back();
    run.method.name = "run";
    run.method.descriptor = "()V";
    run.id = kRoutine;
    run.probed = run.has_blocks = true;
    run.moved = {{0, 0}};
    blocks_.Add(class_id_, {}, result);
  }

  std::vector<proto::OpenActivations> Seal() {
    collector_.Poll();
    collector_.Collect([](const TreeUpdate&) {}, true);
    proto::Chunk chunk;
    blocks_.AddChanges(0, chunk);
    return {chunk.open_activations().begin(), chunk.open_activations().end()};
  }

  testing::TestArena arena_;
  std::unique_ptr<BasicBlockCounters> counters_ = *BasicBlockCounters::Reserve(/*by_path=*/true);
  TreeCollector collector_{arena_.get(), {.path_blocks = counters_.get()}};
  trace::RecordEncoder encoder_{{}};
  Losses losses_;
  BlockCountSource blocks_{*counters_, arena_.get(), &collector_, encoder_, losses_};
  const uint32_t class_id_ = encoder_.ClassNumber("A", 0);
};

// By the next file's end its memory may be another thread's, and anything.
TEST_F(CountedBlocksTest, AThreadThatWasOpenHasEnded) {
  testing::ProbeDouble thread(arena_.get(), kTid, false, false, PathMetrics(), true);
  thread.Enter(kRoutine);
  auto& node = *signal_safe::At<signal_safe::Node>(
      arena_.get(), static_cast<signal_safe::Ref>(thread.current_ref()));
  blocks_.SetOpen({{kTid, class_id_, "run", "()V", 0}});
  proto::Chunk chunk;
  blocks_.EndFile(/*is_last=*/false, chunk);
  const std::vector<proto::OpenActivations> ended = Seal();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_NE(ended[0].node(), 0u);
  EXPECT_EQ(ended[0].count(), 1);
  collector_.BeginFile();
  blocks_.BeginFile();
  thread.End();
  for (int i = 0; i < 3; ++i) Seal();
  ASSERT_EQ(node.routine, 0u) << "not released";
  node.routine = 3;
  node.collected = kDefined;
  signal_safe::Node before;
  std::memcpy(&before, &node, sizeof before);
  blocks_.SetOpen({});
  blocks_.Flush();
  const std::vector<proto::OpenActivations> next = Seal();
  EXPECT_EQ(std::memcmp(&before, &node, sizeof before), 0) << "written to";
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].node(), ended[0].node());
  EXPECT_EQ(next[0].count(), -1);
}

}  // namespace
}  // namespace jtrace::calls
