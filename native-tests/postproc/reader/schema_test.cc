// Parts of the schema other than calls, logs and samples: pruned nodes, groups of threads, kinds of
// nodes, the planner's numbers; and traces that are still written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "native-tests/support/run_post.h"
#include "native-tests/support/small_logs.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::Contains;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReportCsv;
using testing::Rows;
using testing::TraceBuilder;
using testing::TwoRoutines;

TEST(SchemaTest, CallsAndSamplesOfPrunedNodesBelongToTheirAncestor) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t f = builder.Node(1, 0, 1);
  const uint32_t g = builder.Node(1, f, 2);
  builder.Count(1, f, 1);
  builder.Count(1, g, 20, 18);
  builder.Seal();
  const uint32_t pruned = builder.Node(1, f, 0);
  builder.Count(1, pruned, 20, 18);
  builder.Count(1, g, 0);
  proto::TreeDelta& delta = *builder.chunk().add_tree();
  delta.set_thread(1);
  delta.add_pruned_node(static_cast<int32_t>(g));
  builder.Sample(9, 1, g, {builder.Frame(proto::Frame::KERNEL, builder.String("k"))});
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "tree", {"level", "calls", "calls_jitted", "cum_ticks", "name"}),
      ElementsAre(CsvRow{"0", "1", "0", "1", "main"}, CsvRow{"1", "0", "0", "1", "[unmatched]"},
                  CsvRow{"2", "0", "0", "1", "k"}, CsvRow{"1", "1", "0", "0", "A.f()"},
                  CsvRow{"2", "20", "18", "0", "[pruned]"}));
}

TEST(SchemaTest, AGroupOfThreadsIsOneRow) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t group = builder.Thread("[virtual threads]", 0);
  builder.Count(group, builder.Node(group, 0, 1), 100000);
  builder.chunk().mutable_tree()->rbegin()->set_folded_threads(100000);
  EXPECT_THAT(Rows(builder.Finish(), "threads", {"thread", "calls", "folded_threads"}),
              ElementsAre(CsvRow{"[virtual threads]", "100000", "100000"}));
}

TEST(SchemaTest, BoundaryCallsAndExceptionsAreNodesOfTheirKind) {
  TraceBuilder builder = TwoRoutines();
  const auto add = [&](uint32_t routine, proto::Routine::Kind kind, proto::Routine::Cost cost) {
    for (proto::Routine& it : *builder.chunk().mutable_routine()) {
      if (it.id() != routine) continue;
      it.set_kind(kind);
      it.set_cost(cost);
    }
    return routine;
  };
  const uint32_t read = add(builder.Routine(builder.Class("java.io.Console"), "readLine", "()V"),
                            proto::Routine::CALL, proto::Routine::USER_INPUT);
  const uint32_t thrown = add(builder.Routine(builder.Class("java.io.IOException"), "", ""),
                              proto::Routine::THROWN, proto::Routine::UNCLASSIFIED);
  const uint32_t f = builder.Node(1, 0, 1);
  const auto count = [&](uint32_t node, uint64_t calls, uint64_t base) {
    builder.Count(1, node, calls);
    builder.chunk().mutable_tree()->rbegin()->add_base_ns(base);
  };
  count(f, 2, 10);
  count(builder.Node(1, f, read), 3, 5000);
  count(builder.Node(1, f, thrown), 1, 0);
  const std::string trace = builder.Finish();
  const CsvRow columns = {"level", "calls", "base", "cum", "elapsed", "kind", "cost", "name"};
  EXPECT_THAT(
      Rows(trace, "tree", columns),
      ElementsAre(
          CsvRow{"0", "1", "0", "10", "5010", "", "", "main"},
          CsvRow{"1", "2", "10", "10", "5010", "method", "", "A.f()"},
          CsvRow{"2", "3", "0", "0", "5000", "call", "user-input", "java.io.Console.readLine()"},
          CsvRow{"2", "1", "0", "0", "0", "thrown", "", "[thrown] java.io.IOException"}));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(ReportCsv(dump, {"--report=tree,flat"}), ReportCsv(trace, {"--report=tree,flat"}));
  EXPECT_THAT(Rows(trace, "summary", {"key", "value"}), Contains(CsvRow{"calls", "2"}));
  EXPECT_THAT(Rows(trace, "summary", {"key", "value"}), Contains(CsvRow{"calls_boundary", "3"}));
}

TEST(SchemaTest, PlannersNumbersAndTotalsByCodeAreInTheSummary) {
  TraceBuilder builder = TwoRoutines();
  proto::Planner& planner = *builder.chunk().mutable_planner();
  planner.set_methods_probed(12);
  proto::Planner::Row& row = *planner.add_method();
  row.set_name("huge-method");
  row.set_count(2);
  row.set_what("methods over 8,000 bytes");
  proto::Planner::Row& entries = *planner.add_probe();
  entries.set_name("entry");
  entries.set_count(7);
  proto::CodeTotal& total = *builder.chunk().add_code_total();
  total.set_major(format::kMonitor);
  total.set_minor(1);
  total.set_count(45000);
  total.set_recorded(100);
  total.set_total_ns(1500000000);
  const std::string trace = builder.Finish();
  const auto summary = Rows(trace, "summary", {"key", "value"});
  EXPECT_THAT(summary, Contains(CsvRow{"planner.methods_probed", "12"}));
  EXPECT_THAT(summary, Contains(CsvRow{"planner.method.huge-method", "2"}));
  EXPECT_THAT(summary, Contains(CsvRow{"total.0x61/0x1", "45000"}));
  EXPECT_THAT(summary, Contains(CsvRow{"total.0x61/0x1.ns", "1500000000"}));
  const std::string text = testing::RunPost({"--report=summary", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(text, HasSubstr("probes      7 entry\n"));
  EXPECT_THAT(text, HasSubstr("2 huge-method"));
  EXPECT_THAT(text, HasSubstr("45,000 contended monitors · contended monitors took 1.50 s"));
}

// A trace whose writer still has it open ends somewhere in a frame: that is not damage.
TEST(RunningTraceTest, ItsTailIsNotDamage) {
  TraceBuilder builder = TwoRoutines();
  builder.chunk().mutable_session_start()->set_pid(4711);
  builder.Count(1, builder.Node(1, 0, 1), 5);
  builder.Seal();
  const size_t first = builder.Finish().size();
  builder.Thread("later", 2);
  const std::string whole = builder.Finish();
  const std::string growing = whole.substr(0, first + (whole.size() - first) / 2);
  const testing::RunResult live = testing::RunPost(
      {"--report=summary,tree", "t"}, {{"t", growing}},
      [](int64_t pid, const std::string& path) { return pid == 4711 && path == "t"; });
  EXPECT_EQ(live.exit_code, 0);
  EXPECT_EQ(live.err, "");
  EXPECT_THAT(live.out, HasSubstr("recording still runs"));
  EXPECT_THAT(live.out, HasSubstr("losses      none"));
  EXPECT_THAT(live.out, HasSubstr("A.f()"));
  const testing::RunResult dead = testing::RunPost({"t"}, {{"t", growing}});
  EXPECT_THAT(dead.err, HasSubstr("belong to no whole frame"));
  EXPECT_THAT(dead.out, HasSubstr("trace without its last record"));
  EXPECT_THAT(dead.out, Not(HasSubstr("still runs")));
}

}  // namespace
}  // namespace jtrace
