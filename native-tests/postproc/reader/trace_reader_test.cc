#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
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

// One thread, one node a routine.
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

// Last values too, of the thread's root (node 0) as of any other; a pruned node's stand where the
// agent puts them.
TEST(TraceReaderTest, MetricsAreOfNodesAndRoots) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t run = builder.Routine(builder.Class("a.B"), "run", "()V");
  const uint32_t kept = builder.Node(main, 0, run);
  const uint32_t given_up = builder.Node(main, kept, run);
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
  add(main, given_up, 70);
  builder.Seal();
  add(main, 0, 8);
  add(idle, 0, 2);
  builder.chunk().add_tree()->set_thread(main);
  builder.chunk().mutable_tree()->rbegin()->add_pruned_node(static_cast<int32_t>(given_up));
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

// A stack of one frame does not tell its callers; the events do.
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

TEST(TraceReaderTest, SummaryTellsWhatSamplesCost) {
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
  EXPECT_THAT(summary, HasSubstr(" bytes a sample on disk"));
  const std::string dump = testing::RunPost({"--report=dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(testing::RunPost({"--report=summary", "t"}, {{"t", dump}}).out, summary);
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

TEST(TraceReaderTest, FlatTotalsStandApart) {
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
  for (const uint64_t count : {3, 7}) {  // the last value holds
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

// Damage ---------------------------------------------------------------------------------------

// Three frames, each with one thread and a node of its own.
std::vector<std::string> ThreeFrames(TraceBuilder& builder) {
  std::vector<std::string> frames;
  size_t before = builder.Finish().size();
  for (int i = 0; i < 3; ++i) {
    const uint32_t thread = builder.Thread("t" + std::to_string(i), i + 1);
    const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
    builder.Count(thread, builder.Node(thread, 0, routine), 1);
    builder.Seal();
    frames.push_back(builder.Finish().substr(before));
    before = builder.Finish().size();
  }
  return frames;
}

TEST(TraceReaderDamageTest, EveryCutLeavesTheWholeFrames) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  const size_t second = testing::FileHeader().size() + frames[0].size();
  const size_t third = second + frames[1].size();
  for (size_t size = testing::FileHeader().size(); size <= whole.size(); ++size) {
    const testing::RunResult result =
        testing::RunPost({"--report=threads", "--format=csv", "t"}, {{"t", whole.substr(0, size)}});
    // Nothing is no result.
    ASSERT_EQ(result.exit_code, size < second ? 2 : 0) << size;
    if (size < second) {
      ASSERT_THAT(result.err, HasSubstr("t holds nothing")) << size;
      continue;
    }
    const size_t expected = size < third ? 1 : size < whole.size() ? 2 : 3;
    ASSERT_EQ(testing::ParseCsv(result.out).rows.size(), expected) << size;
    const bool on_boundary = size == second || size == third || size == whole.size();
    ASSERT_EQ(result.err.empty(), on_boundary) << size << result.err;
  }
}

TEST(TraceReaderDamageTest, OneFlippedByteLosesOneFrame) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  const size_t second = testing::FileHeader().size() + frames[0].size();
  for (size_t at = second; at < second + frames[1].size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const testing::RunResult result =
        testing::RunPost({"--report=threads", "--format=csv", "t"}, {{"t", damaged}});
    ASSERT_EQ(result.exit_code, 0);
    ASSERT_THAT(result.out, HasSubstr("t0,1,1,"));
    // A length of 0 or a frame that cannot be decompressed loses its frame alone as well.
    ASSERT_THAT(result.out, HasSubstr("t2,3,1,"));
    ASSERT_THAT(result.out, Not(HasSubstr("t1,2,1,")));
    ASSERT_THAT(result.err, HasSubstr("1 chunks missing"));
  }
}

TEST(TraceReaderDamageTest, MissingChunksAreCounted) {
  TraceBuilder builder;
  builder.Thread("a", 1);
  builder.Seal();
  builder.LoseChunk();
  builder.LoseChunk();
  builder.Thread("b", 2);
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", builder.Finish()}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("2 chunks missing"));
}

// How much is lost can only be said of what is left.
TEST(TraceReaderDamageTest, ACutTraceSaysHowFarItGoes) {
  TraceBuilder builder;
  builder.Thread("a", 1);
  builder.Sample(5, 1, 0, {});
  builder.chunk().set_time_ns(1'250'000'000);
  builder.Seal();
  const size_t first = builder.Finish().size();
  builder.Thread("b", 2);
  builder.chunk().mutable_session_end();
  const std::string whole = builder.Finish();
  const testing::RunResult cut = testing::RunPost({"t"}, {{"t", whole.substr(0, first + 9)}});
  EXPECT_THAT(cut.err, HasSubstr("t: cut off: it holds the recording up to 1.25 s\n"));
  EXPECT_THAT(cut.out, HasSubstr("all that came later if the file was cut"));
  const testing::RunResult behind = testing::RunPost({"t"}, {{"t", whole + "0123456789"}});
  EXPECT_THAT(behind.err, HasSubstr("10 bytes behind the trace's last record, ignored"));
  EXPECT_THAT(behind.err, Not(HasSubstr("cut off")));
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole}}).err, "");
}

// Definitions alone are no result, be there a last record or none.
TEST(TraceReaderDamageTest, ATraceThatLostAllThatTheProgramDidIsNone) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Seal();
  const size_t first = builder.Finish().size();
  builder.Count(thread, builder.Node(thread, 0, routine), 5);
  builder.Seal();
  const size_t second = builder.Finish().size();
  builder.chunk().mutable_session_end()->set_calls(5);
  const std::string whole = builder.Finish();
  std::string damaged = whole;
  damaged[second - 1] = static_cast<char>(damaged[second - 1] ^ 1);
  for (const std::string& trace : {whole.substr(0, second - 1), damaged}) {
    const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("t was cut or damaged: what the program did is in none of"));
  }
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole}}).exit_code, 0);
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole.substr(0, first)}}).exit_code, 0);
}

// Without the chunk that defines them they have no names, but their calls are the program's.
TEST(TraceReaderDamageTest, CountsOfNodesWithoutDefinitionAreKept) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Seal();
  const size_t first = builder.Finish().size();
  const uint32_t lost = builder.Node(thread, 0, routine);
  builder.Count(thread, lost, 3);
  builder.Seal();
  const size_t second = builder.Finish().size();
  builder.Count(thread, lost, 7);
  builder.Count(thread, builder.Node(thread, lost, routine), 5);
  builder.Sample(5, thread, lost, {});
  builder.chunk().mutable_session_end()->set_calls(12);
  std::string trace = builder.Finish();
  trace.erase(first, second - first);
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "cum_ticks", "name"}),
              ElementsAre(CsvRow{"0", "1", "1", "a"}, CsvRow{"1", "7", "1", "[lost]"},
                          CsvRow{"2", "0", "1", "[no_frames]"}, CsvRow{"2", "5", "0", "A.f()"}));
  const std::string err = testing::RunPost({"t"}, {{"t", trace}}).err;
  EXPECT_THAT(err, HasSubstr("node 1 was never defined"));
  EXPECT_THAT(err, Not(HasSubstr("control sum")));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(ReportCsv(dump, {"--report=tree"}), ReportCsv(trace, {"--report=tree"}));
}

TEST(TraceReaderDamageTest, WhatIsMissingInTheMiddleHasATime) {
  TraceBuilder builder;
  for (const uint64_t second : {1, 2, 3, 4}) {
    builder.chunk().set_time_ns(second * 1'000'000'000);
    builder.Thread("a", static_cast<int64_t>(second));
    if (second == 3) builder.LoseChunk();
    builder.Seal();
  }
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
              HasSubstr("t: chunks are missing between 2.00 s and 3.00 s of the recording"));
}

TEST(TraceReaderDamageTest, ATraceWithoutItsBeginningIsNamed) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  std::string zeroed = whole;
  zeroed.replace(0, 40, 40, '\0');
  for (const std::string& trace : {whole.substr(20), zeroed}) {
    const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("t: the beginning of this trace is gone: its first whole "));
  }
}

// Marks with lengths that reach far: each could be checked for as long as it says.
TEST(TraceReaderDamageTest, AFileFullOfMarksIsGivenUp) {
  const std::string mark = testing::MakeFrame("x").substr(0, 4);
  const std::string head = mark + std::string("\0\0\4\0\1\0\0\0\0\0\0\0", 12);  // 256 KB
  std::string trace = testing::FileHeader();
  for (int i = 0; i < 200'000; ++i) trace += head;
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("holds nothing that can be read"));
}

TEST(TraceReaderDamageTest, AFileThatShrinksMeanwhileIsNoTrace) {
  TraceBuilder builder;
  builder.chunk().mutable_session_start()->set_pid(1);
  builder.Thread("a", 1);
  for (int i = 0; i < 2000; ++i) {
    builder.String("a string that is new " + std::to_string(i * i * 7919));
    builder.Seal();
  }
  const std::string path = ::testing::TempDir() + "/shrinks." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << builder.Finish();
  for (const char* jobs : {"--jobs=1", "--jobs=3"}) {
    // Called between the passes.
    const auto shorten = [&](int64_t, const std::string& file) {
      EXPECT_EQ(truncate(file.c_str(), 5000), 0);
      return false;
    };
    std::ofstream(path, std::ios::binary) << builder.Finish();
    const testing::RunResult result = testing::RunPost({jobs, path}, {}, shorten);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "jtrace-post: " + path +
                              " became shorter while it was read: something writes it anew; read "
                              "it again\n");
  }
  unlink(path.c_str());
}

// Work that a trace asks for ----------------------------------------------------------------------

// Each takes its number at once, not after all before it.
TEST(TraceReaderWorkTest, ThreadsWithoutNamesAreManyAndDifferent) {
  constexpr uint32_t kThreads = 20'000;
  TraceBuilder builder;
  for (uint32_t i = 1; i <= kThreads; ++i) {
    builder.chunk().add_thread()->set_id(i);
    builder.Event(1, i, format::kThread, format::kThreadNamed);
    builder.Event(1, i + kThreads, format::kThread, format::kThreadNamed);  // never defined
  }
  const std::vector<CsvRow> rows = Rows(builder.Finish(), "threads", {"thread"});
  EXPECT_EQ(std::set<CsvRow>(rows.begin(), rows.end()).size(), 2 * kThreads);
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"#0#20000"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"[thread 40000]"}));
}

// What must end with a line that says why.
void ExpectTooMuchWork(const std::string& trace) {
  EXPECT_LT(trace.size(), 100'000u);
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("jtrace-post: t asks for far more work than a trace of "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(TraceReaderWorkTest, RecordsThatUnpackWithoutEndAreRefused) {
  proto::Chunk chunk;
  for (int i = 0; i < 400'000; ++i) chunk.add_thread();
  const std::string frame = testing::MakeFrame(chunk.SerializeAsString());
  std::string trace = testing::FileHeader();
  for (int i = 0; i < 20; ++i) trace += frame;
  ExpectTooMuchWork(trace);
}

TEST(TraceReaderWorkTest, ALongTextThatIsNamedOftenIsRefused) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  const uint32_t label = builder.String(std::string(8 << 20, 'x'));
  for (int i = 0; i < 1000; ++i) {
    builder.Event(1, 1, format::kSession, format::kSessionMark).set_text(label);
  }
  ExpectTooMuchWork(builder.Finish());
}

// Two threads of hundred thousands of activations each; the time for one is that of a frame.
TEST(TraceReaderWorkTest, SamplesOfDeepStacksTakeTheirPlacesQuickly) {
  constexpr int kDepth = 300'000;
  TraceBuilder builder;
  const uint32_t owner = builder.Class("A");
  const uint32_t run = builder.Routine(owner, "run", "()V");
  const uint32_t f = builder.Routine(owner, "f", "()V");
  builder.Method(owner, "run", "()V");
  for (const uint32_t thread : {builder.Thread("a", 1), builder.Thread("b", 2)}) {
    proto::EventLog& log = *builder.chunk().add_log();
    log.set_thread(thread);
    log.add_op(run << format::kLogRoutineShift);
    for (int i = 0; i < kDepth; ++i) log.add_op(f << format::kLogRoutineShift);
  }
  builder.Seal();
  const uint32_t frame = builder.Frame(proto::Frame::COMPILED, 1);
  for (uint32_t i = 0; i < 40'000; ++i) builder.Sample(i + 1, 1 + i % 2, 0, {frame});
  const std::vector<CsvRow> rows = Rows(builder.Finish(), "flat", {"name", "calls", "base_ticks"});
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"A.run()", "2", "40000"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"A.f()", "600000", "0"}));
}

TEST(TraceReaderDamageTest, NodesOfALostParentStandUnderLost) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(thread, builder.Node(thread, 77, routine), 5);
  EXPECT_THAT(
      Rows(builder.Finish(), "tree", {"level", "calls", "name"}),
      ElementsAre(CsvRow{"0", "1", "a"}, CsvRow{"1", "0", "[lost]"}, CsvRow{"2", "5", "A.f()"}));
}

TEST(TraceReaderDamageTest, NewerVersionIsRefusedByName) {
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", testing::FileHeader(2)}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("version 2 is newer"));
}

TEST(TraceReaderDamageTest, WhatIsNoTraceIsRefused) {
  for (const std::string content : {"", "hello\n", "JTRACE\r\n", "JTRACE\r"}) {
    EXPECT_EQ(testing::RunPost({"t"}, {{"t", content}}).exit_code, 2);
  }
}

TEST(TraceReaderDamageTest, ControlSumIsChecked) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(thread, builder.Node(thread, 0, routine), 5);
  builder.chunk().mutable_session_end()->set_calls(6);
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
              HasSubstr("the trees hold 5 calls, the agent counted 6"));
}

// A frame that claims 4 GB is damage, not a reason to allocate them.
TEST(TraceReaderDamageTest, ClaimedSizesAreBounded) {
  std::string trace = testing::FileHeader();
  std::string frame = testing::MakeFrame("x");
  for (size_t i = 8; i < 12; ++i) frame[i] = '\xff';
  TraceBuilder builder;
  builder.Thread("a", 1);
  trace += frame + builder.Finish().substr(testing::FileHeader().size());
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err, HasSubstr("frames were damaged"));
}

}  // namespace
}  // namespace jtrace
