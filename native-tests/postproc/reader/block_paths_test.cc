// Counters of blocks at tree nodes (blocks=paths): bytecodes by call path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;
using testing::RunPost;
using testing::TraceBuilder;

// kind << 0 | bci << 2 of MethodCounters.place.
constexpr uint32_t kCalls = 0 << 2 | 1;
constexpr uint32_t kNopRuns = 4 << 2 | 0;

class BlockPathsTest : public ::testing::Test {
 protected:
  BlockPathsTest() {
    class_id_ = trace_.Class("a.B");
    m_ = trace_.Routine(class_id_, "m", "()V");
    r_ = trace_.Routine(class_id_, "r", "()V");
    main_ = trace_.Thread("main", 7, 1);
    top_ = trace_.Node(main_, 0, r_);
    trace_.Count(main_, top_, 1);
  }

  // static void m(): `if (0 == 0) nop; return`: three bytecodes, and one more where it does not
  // jump.
  void Class(uint32_t id) {
    test::ClassBuilder builder("a/B");
    test::TestMethod method;
    method.code = {3, classfile::kOpIfeq, 0, 4, classfile::kOpNop, classfile::kOpReturn};
    const test::ByteVector bytes = builder.Add(method).Build();
    proto::ClassCode& code = *trace_.chunk().add_class_code();
    code.set_id(id);
    code.set_class_id(class_id_);
    code.set_code(bytes.data(), bytes.size());
  }
  void Method(uint32_t code, uint32_t first, std::vector<uint32_t> places, bool by_path = true) {
    proto::MethodCounters& method = *trace_.chunk().add_method_counters();
    method.set_class_code(code);
    method.set_method(0);
    method.set_routine(m_);
    method.set_first_counter(first);
    method.set_by_path(by_path);
    for (const uint32_t place : places) method.add_place(place);
  }
  // Adds to the last record of the chunk.
  void Blocks(uint32_t node, uint32_t first, std::vector<uint64_t> counts) {
    if (trace_.chunk().node_blocks_size() == 0) {
      trace_.chunk().add_node_blocks();
      last_node_ = last_first_ = 0;
    }
    proto::NodeBlocks& blocks = *trace_.chunk().mutable_node_blocks(0);
    blocks.add_node(static_cast<int32_t>(node - last_node_));
    blocks.add_first_counter(static_cast<int32_t>(first - last_first_));
    blocks.add_counters(static_cast<uint32_t>(counts.size()));
    for (const uint64_t count : counts) blocks.add_count(count);
    last_node_ = node;
    last_first_ = first;
  }
  void ByMethod(uint32_t counter, uint64_t count) {
    proto::BlockCounts& counts = *trace_.chunk().add_block_counts();
    counts.add_counter(static_cast<int32_t>(counter));
    counts.add_count(count);
  }
  void Open(uint32_t bci, int64_t count, uint32_t node) {
    proto::OpenActivations& open = *trace_.chunk().add_open_activations();
    open.set_class_code(1);
    open.set_bci(bci);
    open.set_count(count);
    open.set_node(node);
  }
  uint32_t Node(uint32_t parent, uint64_t calls) {
    const uint32_t node = trace_.Node(main_, parent, m_);
    trace_.Count(main_, node, calls);
    return node;
  }

  // Bytecodes by path, with the thread first; those of a dump must be the same.
  std::map<std::string, int64_t> Bytecodes() {
    const std::string trace = trace_.Finish();
    const std::vector<std::string> args = {"--report=tree", "--metric=bytecodes", "--format=csv",
                                           "trace"};
    const auto result = RunPost(args, {{"trace", trace}});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto dump = RunPost({"--report=dump", "trace"}, {{"trace", trace}});
    EXPECT_EQ(RunPost(args, {{"trace", dump.out}}).out, result.out);
    std::map<std::string, int64_t> by_path;
    std::vector<std::string> path;
    for (const testing::CsvRow& row :
         testing::ParseCsv(result.out).Project({"level", "name", "bytecodes.base"})) {
      path.resize(static_cast<size_t>(std::stoi(row[0])));
      path.push_back(row[1]);
      std::string text;
      for (const std::string& name : path) text += (text.empty() ? "" : "/") + name;
      by_path[text] += std::stoll(row[2]);
    }
    return by_path;
  }

  TraceBuilder trace_;
  uint32_t class_id_ = 0, m_ = 0, r_ = 0, main_ = 0, top_ = 0;
  uint32_t last_node_ = 0, last_first_ = 0;
};

TEST_F(BlockPathsTest, EachNodeHasItsOwn) {
  Class(1);
  Method(1, 11, {kNopRuns});
  const uint32_t a = Node(0, 10), b = Node(top_, 4), c = Node(b, 2);
  Blocks(a, 11, {6});
  Blocks(c, 11, {1});
  trace_.Seal();
  Blocks(a, 11, {7});  // the last total is valid
  auto found = Bytecodes();
  EXPECT_EQ(found["main/a.B.m()"], 10 * 3 + 7);
  EXPECT_EQ(found["main/a.B.r()/a.B.m()"], 4 * 3);
  EXPECT_EQ(found["main/a.B.r()/a.B.m()/a.B.m()"], 2 * 3 + 1);
  EXPECT_FALSE(found.contains("[no path]"));
}

TEST_F(BlockPathsTest, WhatHasNoPathIsStillCounted) {
  Class(1);
  Method(1, 11, {kNopRuns});
  const uint32_t a = Node(0, 10), b = Node(top_, 4);
  Blocks(a, 11, {6});
  Blocks(b, 11, {});  // no memory
  ByMethod(11, 3);
  auto found = Bytecodes();
  EXPECT_EQ(found["main/a.B.m()"], 10 * 3 + 6);
  EXPECT_EQ(found["main/a.B.r()/a.B.m()"], 0);
  EXPECT_EQ(found["[no path]/a.B.m()"], 4 * 3 + 3);
}

TEST_F(BlockPathsTest, DroppedNodesAreNotCountedTwice) {
  Class(1);
  Method(1, 11, {kNopRuns});
  const uint32_t a = Node(top_, 10);
  Blocks(a, 11, {6});
  trace_.Seal();
  trace_.Count(main_, a, 0);
  trace_.chunk().mutable_tree(0)->add_pruned_node(static_cast<int32_t>(a));
  const uint32_t pruned = trace_.Node(main_, top_, 0);
  const uint32_t sum = trace_.Node(main_, pruned, m_);
  trace_.Count(main_, sum, 12);
  Blocks(sum, 11, {8});
  auto found = Bytecodes();
  EXPECT_EQ(found["main/a.B.r()/[pruned]/a.B.m()"], 12 * 3 + 8);
  EXPECT_FALSE(found.contains("[no path]"));
}

TEST_F(BlockPathsTest, OpenActivationsBelongToTheirNodes) {
  Class(1);
  Method(1, 11, {kNopRuns});
  const uint32_t a = Node(0, 10);
  Blocks(a, 11, {6});
  Open(4, 1, a);  // its return did not run
  Open(0, 2, 0);  // nor did what follows the first instruction of two others, on paths unknown
  auto found = Bytecodes();
  EXPECT_EQ(found["main/a.B.m()"], 10 * 3 + 6 - 1);
  EXPECT_EQ(found["[no path]/a.B.m()"], -4);
}

// The second version of a class counts its calls itself.
TEST_F(BlockPathsTest, VersionsOfAMethodShareTheCallsOfANode) {
  Class(1);
  Method(1, 11, {kNopRuns});
  Class(2);
  Method(2, 12, {kCalls, kNopRuns});
  const uint32_t a = Node(0, 10);
  Blocks(a, 11, {6});
  Blocks(a, 12, {3, 2});
  const auto found = Bytecodes();
  EXPECT_EQ(found.at("main/a.B.m()"), 10 * 3 + 6 + 2);
}

TEST_F(BlockPathsTest, NodesThatWereNeverDefinedLoseOnlyTheirPath) {
  Class(1);
  Method(1, 11, {kNopRuns});
  const uint32_t a = Node(0, 10);
  Blocks(a, 11, {6});
  Blocks(a + 7, 11, {2});
  auto found = Bytecodes();
  EXPECT_EQ(found["main/a.B.m()"], 36);
  // Their calls are lost: it did not jump twice.
  EXPECT_EQ(found["[no path]/a.B.m()"], 2);
}

// A trace may be anything, and is read in the time that its size takes.
TEST_F(BlockPathsTest, ANodeWithManyCodesAndOpenActivations) {
  constexpr uint32_t kMany = 300'000, kMethods = 2'000;
  Class(1);
  Method(1, 11, {kNopRuns});
  for (uint32_t i = 0; i < kMethods; ++i) Method(2 + i, 12, {kNopRuns}, /*by_path=*/false);
  const uint32_t a = Node(0, 10);
  for (uint32_t i = 0; i < kMany; ++i) Blocks(a, 11 + i, {i == 0 ? 6u : 0u});
  for (uint32_t i = 0; i < kMany; ++i) Open(4, i % 2 == 0 ? 1 : -1, 0);
  EXPECT_EQ(Bytecodes()["main/a.B.m()"], 10 * 3 + 6);
}

TEST_F(BlockPathsTest, CountsByMethodAreRefusedWherePathsAreNeeded) {
  Class(1);
  Method(1, 11, {kNopRuns}, /*by_path=*/false);
  Node(0, 10);
  ByMethod(11, 6);
  const std::string trace = trace_.Finish();
  const auto run = [&](std::vector<std::string> args) {
    args.emplace_back("trace");
    return RunPost(args, {{"trace", trace}});
  };
  EXPECT_THAT(run({"--report=flat", "--metric=bytecodes"}).out, HasSubstr("36"));
  EXPECT_THAT(run({"--report=metrics", "--metric=cycles"}).out, HasSubstr("a.B.m()"));
  EXPECT_THAT(run({"--report=classes", "--metric=bytecodes"}).out, HasSubstr("36"));
  for (const char* report :
       {"tree", "arcflow", "function", "callers", "callees", "paths", "threads", "graph", "dot",
        "collapsed", "pprof", "speedscope", "callgrind"}) {
    const auto result =
        run({std::string("--report=") + report, "--metric=bytecodes", "--of=a.B.m"});
    EXPECT_NE(result.exit_code, 0) << report;
    EXPECT_EQ(result.err, std::string("jtrace-post: --metric=bytecodes: ") + report +
                              " needs counts by call path; record with blocks=paths\n");
  }
  EXPECT_THAT(run({"--metric=cycles"}).err, HasSubstr("tree needs counts by call path"));
  EXPECT_THAT(run({"--report=flat", "--thread=main", "--metric=bytecodes"}).err,
              HasSubstr("--thread needs counts by call path; record with blocks=paths"));
  EXPECT_THAT(run({"--report=flat", "--root=a.B.r", "--metric=bytecodes"}).err,
              HasSubstr("--root needs counts by call path; record with blocks=paths"));
}

TEST(BlockSummaryTest, ShowsTheShareOfBlocksWithACounter) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "#@\tcount\tplanner.probe.block\t61\tblocks\n"
      "#@\tcount\tplanner.probe.block-counter\t18\tcounters\n"
      "0\tmain\tnode\tcalls=1\tf\n";
  EXPECT_THAT(RunPost({"--report=summary", "trace"}, {{"trace", trace}}).out,
              HasSubstr("29.5 % of the blocks have a counter\n"));
}

TEST_F(BlockPathsTest, WithoutCountsTheMetricIsRefused) {
  const auto result =
      RunPost({"--report=flat", "--metric=bytecodes", "trace"}, {{"trace", trace_.Finish()}});
  EXPECT_EQ(result.err,
            "jtrace-post: --metric=bytecodes: the trace has no counts of blocks; record with "
            "blocks=paths, or blocks=on\n");
}

}  // namespace
}  // namespace jtrace
