#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/thousands.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReportCsv;
using testing::Rows;
using testing::TraceBuilder;

std::vector<std::string> RoutineNames(const std::string& trace) {
  std::vector<std::string> names;
  for (const CsvRow& row : Rows(trace, "tree", {"level", "name"})) {
    if (row[0] != "0") names.push_back(row[1]);
  }
  return names;
}

// One thread, one node for each routine.
std::string TraceOfRoutines(
    const std::vector<std::tuple<std::string, uint32_t, std::string, std::string>>& routines) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("main", 1);
  uint64_t calls = 1000;
  for (const auto& [class_name, loader, name, descriptor] : routines) {
    const uint32_t routine = builder.Routine(builder.Class(class_name, loader), name, descriptor);
    builder.Count(thread, builder.Node(thread, 0, routine), --calls);
  }
  return builder.Finish();
}

TEST(TraceReaderTest, TotalsOfTreesAreLastValues) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t owner = builder.Class("a.B");
  const uint32_t run = builder.Routine(owner, "run", "()V");
  const uint32_t add = builder.Routine(owner, "add", "(ILjava/lang/String;)I");
  const uint32_t run_node = builder.Node(main, 0, run);
  const uint32_t add_node = builder.Node(main, run_node, add);
  builder.Count(main, run_node, 1);
  builder.Count(main, add_node, 5, 2);
  builder.Seal();
  builder.Count(main, add_node, 12, 9);
  EXPECT_THAT(Rows(builder.Finish(), "tree",
                   {"thread", "level", "calls", "calls_jitted", "origin", "name"}),
              ElementsAre(CsvRow{"main", "0", "1", "0", "thread", "main"},
                          CsvRow{"main", "1", "1", "0", "event", "a.B.run()"},
                          CsvRow{"main", "2", "12", "9", "event", "a.B.add(int,String)"}));
}

// Last values too, for the thread's root (node 0) as for any other; a pruned node's values are
// where the agent puts them.
TEST(TraceReaderTest, MetricsAreOfNodesAndRoots) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t run = builder.Routine(builder.Class("a.B"), "run", "()V");
  const uint32_t kept = builder.Node(main, 0, run);
  const uint32_t dropped = builder.Node(main, kept, run);
  const auto add = [&](uint32_t thread, uint32_t node, int64_t value) {
    proto::TreeDelta& delta = *builder.chunk().add_tree();
    delta.set_thread(thread);
    proto::NodeMetric& metric = *delta.add_metric();
    metric.set_name(builder.String("alloc.bytes"));
    metric.add_node(static_cast<int32_t>(node));
    metric.add_value(value);
  };
  const uint32_t idle = builder.Thread("idle", 8);
  add(main, 0, 5);
  add(main, kept, 100);
  add(main, dropped, 70);
  builder.Seal();
  add(main, 0, 8);
  add(idle, 0, 2);
  builder.chunk().add_tree()->set_thread(main);
  builder.chunk().mutable_tree()->rbegin()->add_pruned_node(static_cast<int32_t>(dropped));
  const uint32_t pruned = builder.Node(main, kept, 0);
  add(main, pruned, 70);
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      testing::ParseCsv(ReportCsv(trace, {"--report=tree", "--metric=alloc.bytes"}))
          .Project({"thread", "name", "alloc.bytes.base", "alloc.bytes.cum"}),
      ElementsAre(CsvRow{"main", "main", "8", "178"}, CsvRow{"main", "a.B.run()", "100", "170"},
                  CsvRow{"main", "[pruned]", "70", "70"}, CsvRow{"idle", "idle", "2", "2"}));
}

TEST(TraceReaderTest, SampleJoinsThePathOfItsNode) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t owner = builder.Class("a.B");
  const uint32_t run_node = builder.Node(main, 0, builder.Routine(owner, "run", "()V"));
  const uint32_t method = builder.Method(owner, "run", "()V");
  const uint32_t stub = builder.Frame(proto::Frame::STUB, builder.String("call_stub"));
  const uint32_t java = builder.Frame(proto::Frame::COMPILED, method);
  const uint32_t kernel = builder.Frame(proto::Frame::KERNEL, builder.String("do_read"));
  builder.Sample(10, main, run_node, {kernel, java, stub}).set_weight(3);
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "tree", {"level", "base_ticks", "cum_ticks", "samples", "origin", "name"}),
      ElementsAre(CsvRow{"0", "0", "3", "0", "thread", "main"},
                  CsvRow{"1", "0", "3", "0", "event", "a.B.run()"},
                  CsvRow{"2", "3", "3", "1", "sample", "do_read"},
                  CsvRow{"1", "0", "0", "1", "sample", "call_stub"}));
  EXPECT_THAT(
      Rows(trace, "samples", {"time", "thread", "stack", "weight"}),
      ElementsAre(CsvRow{"10", "main", "V:[stubs]!call_stub > C:a.B.run() > K:do_read", "3"}));
  EXPECT_THAT(Rows(trace, "modules", {"name", "samples"}), ElementsAre(CsvRow{"[kernel]", "3"}));
}

// A stack of one frame does not show its callers; the events do.
TEST(TraceReaderTest, FramesWithoutCallersBeginAtTheirNode) {
  for (const char* stack : {"pc", "frame", "appframe"}) {
    TraceBuilder builder;
    builder.chunk().mutable_session_start()->set_stack(stack);
    const uint32_t main = builder.Thread("main", 7);
    const uint32_t owner = builder.Class("a.B");
    const uint32_t outer = builder.Node(main, 0, builder.Routine(owner, "outer", "()V"));
    const uint32_t inner = builder.Node(main, outer, builder.Routine(owner, "inner", "()V"));
    const uint32_t stub = builder.Frame(proto::Frame::STUB, builder.String("call_stub"));
    const uint32_t java =
        builder.Frame(proto::Frame::COMPILED, builder.Method(owner, "outer", "()V"));
    builder.Sample(10, main, inner, {stub});
    builder.Sample(11, main, inner, {java});
    builder.Sample(12, main, 0, {stub});
    const std::string trace = builder.Finish();
    EXPECT_THAT(Rows(trace, "tree", {"level", "base_ticks", "name"}),
                ElementsAre(CsvRow{"0", "0", "main"}, CsvRow{"1", "1", "a.B.outer()"},
                            CsvRow{"2", "0", "a.B.inner()"}, CsvRow{"3", "1", "call_stub"},
                            CsvRow{"1", "1", "call_stub"}));
    EXPECT_THAT(Rows(trace, "functions", {"samples", "name"}),
                ElementsAre(CsvRow{"2", "call_stub"}, CsvRow{"1", "a.B.outer()"}));
  }
}

TEST(TraceReaderTest, SummaryShowsTheCostOfSamples) {
  TraceBuilder builder;
  proto::SessionStart& start = *builder.chunk().mutable_session_start();
  start.set_mode("samples");
  start.set_timer("perf:page-faults");
  start.set_stack("full");
  start.set_interval_events(100);
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t stub = builder.Frame(proto::Frame::STUB, builder.String("call_stub"));
  for (uint64_t i = 0; i < 50; ++i) builder.Sample(10 + i, main, 0, {stub});
  proto::SampleCost& cost = *builder.chunk().mutable_sample_cost();
  cost.set_samples(50);
  cost.set_median_ns(2100);
  cost.set_p99_ns(9000);
  const std::string trace = builder.Finish();
  const std::string summary = testing::RunPost({"--report=summary", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(summary, HasSubstr("timer perf:page-faults · stack full · a tick is 100 events"));
  EXPECT_THAT(summary, HasSubstr("median 2.10 µs, p99 9.00 µs a sample · "));
  EXPECT_THAT(summary, HasSubstr(absl::StrCat(" bytes a sample on disk · ",
                                              WithThousands(trace.size()), " bytes in the file")));
  const std::string dump = testing::RunPost({"--report=dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(testing::RunPost({"--report=summary", "t"}, {{"t", dump}}).out, summary);
}

// All that was on the stack was walked: the JVM puts a virtual thread's callers back later.
TEST(TraceReaderTest, FrozenFramesLeaveAStackWhole) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t stub = builder.Frame(proto::Frame::STUB, builder.String("call_stub"));
  const auto marker = [&](const std::string& name) {
    return builder.Frame(proto::Frame::MARKER, builder.String(name));
  };
  builder.Sample(10, main, 0, {stub});
  builder.Sample(11, main, 0, {stub, stub});
  builder.Sample(12, main, 0, {stub, marker("[frozen_frames]"), stub});
  builder.Sample(13, main, 0, {stub, marker("[truncated]"), stub});
  const std::string trace = builder.Finish();
  const std::string summary = testing::RunPost({"--report=summary", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(summary, HasSubstr("75.0 % whole, 25.0 % with [frozen_frames]"));
  const std::string table =
      testing::RunPost({"--report=summary", "--format=csv", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(table, HasSubstr("samples_whole,3\nsamples_frozen,1\n"));
}

TEST(TraceReaderTest, SamplesNameWhatTheirThreadWaitsOn) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t stub = builder.Frame(proto::Frame::STUB, builder.String("call_stub"));
  const auto wait = [&](uint64_t time, proto::Sample::State state, const std::string& on) {
    proto::Sample& sample = builder.Sample(time, main, 0, {stub});
    sample.set_state(state);
    if (!on.empty()) sample.set_blocker_class(builder.Class(on));
  };
  wait(10, proto::Sample::MONITOR, "a.Lock");
  wait(11, proto::Sample::PARKED, "a.Main$$Lambda$14/0x0000000800c03000");
  wait(12, proto::Sample::OBJECT_WAIT, "java.lang.Object[]");
  wait(13, proto::Sample::PARKED, "");
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "samples", {"time", "state", "on"}),
      ElementsAre(CsvRow{"10", "monitor", "a.Lock"}, CsvRow{"11", "parked", "a.Main$$Lambda"},
                  CsvRow{"12", "object-wait", "java.lang.Object[]"}, CsvRow{"13", "parked", ""}));
  const std::string dump = testing::RunPost({"--report=dump", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(dump, HasSubstr("sample.monitor@a.Lock*1\t"));
}

TEST(TraceReaderTest, ReturnTypeOnlyWhereTheNameIsAmbiguous) {
  EXPECT_THAT(RoutineNames(TraceOfRoutines({{"a.B", 0, "get", "()Ljava/lang/Object;"},
                                            {"a.B", 0, "get", "()Ljava/lang/String;"},
                                            {"a.B", 0, "set", "([[J)V"}})),
              ElementsAre("a.B.get():Object", "a.B.get():String", "a.B.set(long[][])"));
}

TEST(TraceReaderTest, QualifiedTypesAndLoadersWhereNothingElseHelps) {
  EXPECT_THAT(RoutineNames(TraceOfRoutines({{"a.B", 0, "on", "(Lx/Event;)V"},
                                            {"a.B", 0, "on", "(Ly/Event;)V"},
                                            {"c.D", 1, "f", "()V"},
                                            {"c.D", 2, "f", "()V"}})),
              ElementsAre("a.B.on(x.Event):void", "a.B.on(y.Event):void", "c.D.f() [loader 1]",
                          "c.D.f() [loader 2]"));
}

TEST(TraceReaderTest, HiddenAndLambdaClassesLoseTheirNumbers) {
  const std::string trace = TraceOfRoutines({{"a.B$$Lambda$14/0x0000000800c03000", 0, "run", "()V"},
                                             {"a.B$$Lambda/0x00007f0012345678", 0, "run", "()V"},
                                             {"a.C/0x800", 0, "run", "()V"}});
  EXPECT_THAT(RoutineNames(trace), ElementsAre("a.B$$Lambda.run()", "a.C.run()"));
  EXPECT_THAT(ReportCsv(trace, {"--report=tree", "--raw-names"}),
              HasSubstr("a.B$$Lambda$14/0x0000000800c03000.run()"));
}

TEST(TraceReaderTest, ThreadsWithRepeatedChangedOrEmptyNamesGetNumbers) {
  TraceBuilder builder;
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  const std::vector<uint32_t> threads = {builder.Thread("worker", 10), builder.Thread("worker", 11),
                                         builder.Thread("", 12),       builder.Thread("old", 13),
                                         builder.Thread("", 0, 99),    builder.Thread("alone", 14),
                                         builder.Thread("worker", 10)};
  builder.Rename(threads[3], "new", 13);
  for (const uint32_t thread : threads) {
    builder.Count(thread, builder.Node(thread, 0, routine), 1);
  }
  std::vector<std::string> names;
  for (const CsvRow& row : Rows(builder.Finish(), "tree", {"level", "name"})) {
    if (row[0] == "0") names.push_back(row[1]);
  }
  EXPECT_THAT(
      names, ElementsAre("worker#10", "worker#11", "#12", "new#13", "#99", "alone", "worker#10#2"));
}

TEST(TraceReaderTest, FlatTotalsAreSeparate) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 1);
  const uint32_t owner = builder.Class("A");
  const uint32_t f = builder.Routine(owner, "f", "()V");
  builder.FlatCount(main, f, 4, 1);
  builder.Seal();
  builder.FlatCount(main, f, 9, 3);
  const uint32_t frame =
      builder.Frame(proto::Frame::INTERPRETED, builder.Method(owner, "f", "()V"));
  builder.Sample(5, main, 0, {frame});
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "tree", {"level", "calls", "calls_jitted", "cum_ticks", "name"}),
      ElementsAre(CsvRow{"0", "1", "0", "1", "main"}, CsvRow{"1", "0", "0", "1", "A.f()"},
                  CsvRow{"1", "0", "0", "0", "[flat]"}, CsvRow{"2", "9", "3", "0", "A.f()"}));
  EXPECT_THAT(
      Rows(trace, "flat", {"calls", "cum_ticks", "name"}),
      ElementsAre(CsvRow{"9", "1", "A.f()"}, CsvRow{"1", "1", "main"}, CsvRow{"0", "0", "[flat]"}));
}

TEST(TraceReaderTest, LoggedEntriesAndExitsBuildTheTree) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 1);
  const uint32_t f = builder.Routine(builder.Class("A"), "f", "()V");
  const uint32_t g = builder.Routine(builder.Class("A"), "g", "()V");
  proto::EventLog& log = *builder.chunk().add_log();
  log.set_thread(main);
  log.set_time_ns(100);
  for (const uint32_t op : {f << 2, g << 2 | 1, g << 2 | 3, f << 2 | 2}) log.add_op(op);
  for (const uint64_t delta : {0, 10, 20, 5}) log.add_delta_ns(delta);
  EXPECT_THAT(
      Rows(builder.Finish(), "tree", {"level", "calls", "calls_jitted", "base", "cum", "name"}),
      ElementsAre(CsvRow{"0", "1", "0", "0", "35", "main"},
                  CsvRow{"1", "1", "0", "15", "35", "A.f()"},
                  CsvRow{"2", "1", "1", "20", "20", "A.g()"}));
}

TEST(TraceReaderTest, EventCodesOfFigure30) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 1);
  const uint32_t f = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Event(0, main, format::kThread, format::kThreadNamed);
  builder.Event(10, main, format::kJitted, format::kCall, f);
  builder.Event(20, main, format::kThreadSwitch, format::kEnd + 1);
  builder.Event(25, main, format::kThreadSwitch, 1);
  builder.Event(30, 0, format::kGc, format::kGcCycle);
  builder.Event(31, 0, format::kGc, format::kEnd + format::kGcCycle);
  builder.Event(40, main, format::kJitted, format::kEnd + format::kCall, f);
  builder.Event(41, main, 0x7777, 0x1);
  const testing::RunResult dump = testing::RunPost({"dump", "t"}, {{"t", builder.Finish()}});
  EXPECT_EQ(dump.exit_code, 0);
  EXPECT_THAT(dump.out, HasSubstr("0\tmain\tthread-start\ttid=1\tjava_tid=0\n"
                                  "10\tmain\tenter.j\tA.f()\n"
                                  "20\tmain\toff\n"
                                  "25\tmain\ton\n"
                                  "30\t\tgc-begin\n"
                                  "31\t\tgc-end\n"
                                  "40\tmain\texit.j\tA.f()\n"));
  EXPECT_THAT(dump.err, HasSubstr("unknown event 0x7777/0x1"));
}

TEST(TraceReaderTest, SessionAndLossesAreShown) {
  TraceBuilder builder;
  proto::SessionStart& start = *builder.chunk().mutable_session_start();
  start.set_command("org.example.Main \xff\xfe");  // not UTF-8
  start.set_pid(42);
  start.set_jvm("TestVM 99");
  start.set_mode("merged");
  start.set_interval_ns(1000000);
  const uint32_t main = builder.Thread("main", 1);
  builder.Sample(5, main, 0, {});
  for (const uint64_t count : {3, 7}) {  // the last value counts
    proto::Loss& loss = *builder.chunk().add_loss();
    loss.set_name("ring_full");
    loss.set_severity(proto::Loss::WARNING);
    loss.set_count(count);
    loss.set_what("samples dropped");
    loss.set_advice("use a longer interval=");
  }
  const std::string text = testing::RunPost({"t"}, {{"t", builder.Finish()}}).out;
  EXPECT_THAT(text, HasSubstr("org.example.Main"));
  EXPECT_THAT(text, HasSubstr("(pid 42)"));
  EXPECT_THAT(text, HasSubstr("TestVM 99"));
  EXPECT_THAT(text, HasSubstr("a tick is 1.00 ms"));
  EXPECT_THAT(text, HasSubstr("samples     1 (1.00 ms): 1 without frames"));
  EXPECT_THAT(text, HasSubstr("warning: 7 samples dropped"));
  EXPECT_THAT(text, HasSubstr("→ use a longer interval="));
  EXPECT_THAT(text, HasSubstr("trace without its last record"));
}

}  // namespace
}  // namespace jtrace
