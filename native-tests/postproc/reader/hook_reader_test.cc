// Hooks in native code (proto/FORMAT.md), from both formats into the tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/own_code.h"
#include "native-tests/support/run_post.h"
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
using testing::RunPost;
using testing::TraceBuilder;

extern "C" __attribute__((noinline, visibility("default"))) int jtrace_test_hooked(int x) {
  return x * 5 + 2;
}
extern "C" __attribute__((noinline, visibility("default"))) int jtrace_test_hooks_caller(int x) {
  return x * 7 + 3;
}

const CsvRow kNodes = {"level", "calls", "base", "samples", "origin", "kind", "name"};
const CsvRow kCallers = {"hook", "kind", "thread", "java", "native", "calls"};

std::string Dump(const std::string& trace) { return RunPost({"dump", "t"}, {{"t", trace}}).out; }

// Thread 1 `main` with node 1, a.B.run(), called twice, and hook 1.
TraceBuilder OneHook(proto::Hook::Kind kind = proto::Hook::COUNT) {
  TraceBuilder builder;
  builder.Thread("main", 7);
  builder.Count(1, builder.Node(1, 0, builder.Routine(builder.Class("a.B"), "run", "()V")), 2);
  builder.Hook("libc.so.6!malloc", 0x5000, kind, "libc.so.6!mal*");
  return builder;
}

TEST(HookReaderTest, CallsAreANodeBelowTheThreadsNode) {
  TraceBuilder builder = OneHook();
  builder.HookCalls(1, 1, 1, 0, 300);
  builder.HookCalls(1, 1, 0, 0, 40);
  EXPECT_THAT(Rows(builder.Finish(), "tree", kNodes),
              ElementsAre(CsvRow{"0", "1", "0", "0", "thread", "", "main"},
                          CsvRow{"1", "40", "0", "0", "event", "native", "malloc"},
                          CsvRow{"1", "2", "0", "0", "event", "method", "a.B.run()"},
                          CsvRow{"2", "300", "0", "0", "event", "native", "malloc"}));
}

// A chunk between is lost; a later one repeats its values, or they have not changed.
TEST(HookReaderTest, TotalsOfAKeyAreItsLastValues) {
  TraceBuilder builder = OneHook(proto::Hook::TIME);
  const auto timed = [&](uint64_t caller, uint64_t calls, uint64_t total) {
    proto::HookCalls& it = builder.HookCalls(1, 1, 1, caller, calls);
    it.set_timed(calls - 1);
    it.set_total_ns(total);
    it.set_min_ns(3);
    it.set_max_ns(total);
  };
  timed(0x90, 10, 500);
  timed(0xa0, 5, 70);
  builder.Seal();
  builder.LoseChunk();
  timed(0x90, 25, 900);
  const std::string trace = builder.Finish();
  const CsvRow columns = {"native", "calls", "timed", "total_ns", "min_ns", "max_ns"};
  EXPECT_THAT(Rows(trace, "hooks", columns),
              ElementsAre(CsvRow{"[0x8f]", "25", "24", "900", "3", "900"},
                          CsvRow{"[0x9f]", "5", "4", "70", "3", "70"}));
  EXPECT_THAT(Rows(trace, "tree", {"calls", "name"}), Contains(CsvRow{"30", "malloc"}));
}

TEST(HookReaderTest, TheirTimeIsNotInTheTree) {
  TraceBuilder builder = OneHook(proto::Hook::TIME);
  builder.chunk().mutable_tree()->rbegin()->add_base_ns(1000);
  proto::HookCalls& calls = builder.HookCalls(1, 1, 1, 0, 4);
  calls.set_timed(4);
  calls.set_total_ns(800);
  EXPECT_THAT(
      Rows(builder.Finish(), "tree", {"base", "cum", "elapsed", "name"}),
      ElementsAre(CsvRow{"0", "1000", "1000", "main"}, CsvRow{"1000", "1000", "1000", "a.B.run()"},
                  CsvRow{"0", "0", "0", "malloc"}));
}

TEST(HookReaderTest, UnknownPositionsArePutBelowTheRoot) {
  TraceBuilder builder = OneHook();
  builder.HookCalls(1, 1, 1, 0, 8).set_position_unknown(true);
  EXPECT_THAT(Rows(builder.Finish(), "tree", {"level", "calls", "name"}),
              ElementsAre(CsvRow{"0", "1", "main"}, CsvRow{"1", "8", "malloc"},
                          CsvRow{"1", "2", "a.B.run()"}));
}

TEST(HookReaderTest, CallsAtPrunedNodesBelongToTheNearestAncestor) {
  TraceBuilder builder = OneHook();
  const uint32_t dropped = builder.Node(1, 1, 1);
  builder.HookCalls(1, 1, dropped, 0, 5);
  builder.HookCalls(1, 1, 1, 0, 1);
  builder.Seal();
  proto::TreeDelta& delta = *builder.chunk().add_tree();
  delta.set_thread(1);
  delta.add_pruned_node(static_cast<int32_t>(dropped));
  EXPECT_THAT(Rows(builder.Finish(), "tree", {"level", "calls", "name"}),
              ElementsAre(CsvRow{"0", "1", "main"}, CsvRow{"1", "2", "a.B.run()"},
                          CsvRow{"2", "6", "malloc"}));
}

TEST(HookReaderTest, CallsOfAGroupsMemberBelongToTheGroup) {
  TraceBuilder builder = OneHook();
  const uint32_t group = builder.Thread("[virtual threads]", 0);
  const uint32_t node = builder.Node(group, 0, 1);
  builder.chunk().mutable_tree()->rbegin()->set_folded_threads(9);
  builder.HookCalls(1, 1, node, 0, 6);
  EXPECT_THAT(
      Rows(builder.Finish(), "hooks", kCallers),
      ElementsAre(CsvRow{"libc.so.6!malloc", "count", "[virtual threads]", "a.B.run()", "", "6"}));
}

TEST(HookReaderTest, TracesWithoutATreeHaveThemBelowTheRoot) {
  for (const bool flat : {true, false}) {
    TraceBuilder builder;
    const uint32_t main = builder.Thread("main", 7);
    builder.Hook("libc.so.6!malloc", 0x5000, proto::Hook::COUNT);
    builder.HookCalls(1, main, 0, 0, 12);
    const uint32_t run = builder.Routine(builder.Class("a.B"), "run", "()V");
    if (flat) builder.FlatCount(main, run, 3);
    std::vector<CsvRow> expected = {{"0", "1", "main"}, {"1", "12", "malloc"}};
    if (flat) expected.insert(expected.end(), {{"1", "0", "[flat]"}, {"2", "3", "a.B.run()"}});
    EXPECT_EQ(Rows(builder.Finish(), "tree", {"level", "calls", "name"}), expected);
  }
}

// The hook, a sample whose innermost frame is in the function, and an unwind at its entry.
TEST(HookReaderTest, HasTheRoutineOfSampledFrames) {
  const auto hooked = reinterpret_cast<uint64_t>(&jtrace_test_hooked);
  TraceBuilder builder;
  testing::AddOwnModule(builder);
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t owner = builder.Class("a.B");
  const uint32_t node = builder.Node(main, 0, builder.Routine(owner, "run", "()V"));
  builder.Count(main, node, 1);
  const uint32_t hook = builder.Hook("a name of the agent's", hooked, proto::Hook::UNWIND);
  builder.HookCalls(hook, main, node, reinterpret_cast<uint64_t>(&jtrace_test_hooks_caller) + 1,
                    17);
  const uint32_t java = builder.Frame(proto::Frame::COMPILED, builder.Method(owner, "run", "()V"));
  const uint32_t inside = builder.Frame(proto::Frame::NATIVE, hooked + 1);
  builder.Sample(1, main, node, {inside, java});
  builder.Sample(2, main, node, {builder.Frame(proto::Frame::NATIVE, hooked), java})
      .set_major(format::kInstrumentedUnwind);
  const std::string trace = builder.Finish();
  EXPECT_EQ(jtrace_test_hooked(1) + jtrace_test_hooks_caller(1), 17);
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "samples", "base_ticks", "origin", "name"}),
              ElementsAre(CsvRow{"0", "1", "0", "0", "thread", "main"},
                          CsvRow{"1", "1", "0", "0", "event", "a.B.run()"},
                          CsvRow{"2", "17", "2", "1", "event", "jtrace_test_hooked"}));
  EXPECT_THAT(ReportCsv(trace, {"--report=hooks"}), HasSubstr("_test!jtrace_test_hooked,unwind"));
  EXPECT_THAT(ReportCsv(trace, {"--report=hooks"}), HasSubstr("_test!jtrace_test_hooks_caller,17"));
  // Chains of --merge=none stay separate; those of embed are below a separate node.
  for (const char* merge : {"--merge=none", "--merge=embed"}) {
    EXPECT_THAT(testing::ParseCsv(ReportCsv(trace, {"--report=tree", merge}))
                    .Project({"level", "calls", "samples", "name"}),
                Contains(CsvRow{"2", "17", "0", "jtrace_test_hooked"}))
        << merge;
  }
}

// A function that the trace's files do not name gets the agent's name.
TEST(HookReaderTest, TheAgentsNameReplacesMissingSymbols) {
  TraceBuilder builder = OneHook();
  builder.Hook("libjvm.so!os::malloc(unsigned long, MEMFLAGS)", 0x6000, proto::Hook::TIME);
  builder.Hook("", 0x7000, proto::Hook::UNWIND);
  for (const uint32_t hook : {1, 2, 3}) builder.HookCalls(hook, 1, 1, 0, 10 * hook);
  const std::string dump = Dump(builder.Finish());
  EXPECT_THAT(dump, HasSubstr("\tmain\thook\tN:libc.so.6!malloc\tcount\t\tcalls=10\ta.B.run()\n"));
  EXPECT_THAT(dump, HasSubstr("\tV:libjvm.so!os::malloc(unsigned long, MEMFLAGS)\ttime\t\t"));
  EXPECT_THAT(dump, HasSubstr("\tN:[0x7000]\tunwind\t\tcalls=30\t"));
  EXPECT_THAT(dump, HasSubstr("#@\thook\tN:libc.so.6!malloc\tcount\tlibc.so.6!mal*\n"));
}

TEST(HookReaderTest, CallersInStubsAndInMethodsCodeAreNamed) {
  TraceBuilder builder = OneHook();
  const auto code = [&](uint64_t address, uint32_t minor) -> proto::Event& {
    proto::Event& event = builder.Event(5, 0, format::kJit, minor);
    event.mutable_code_event()->set_address(address);
    event.mutable_code_event()->set_size(0x100);
    return event;
  };
  code(0x1000, format::kJitDynamicCode).set_text(builder.String("call_stub"));
  const uint32_t method = builder.Method(builder.Class("a.C"), "crc", "(J)I");
  code(0x2000, format::kJitCode).mutable_code_event()->set_method(method);
  builder.HookCalls(1, 1, 1, 0x1100, 4);  // its last byte
  builder.HookCalls(1, 1, 1, 0x2100, 3);
  builder.HookCalls(1, 1, 1, 0x2101, 2);
  builder.chunk().set_time_ns(100);
  EXPECT_THAT(Rows(builder.Finish(), "hooks", {"native", "calls"}),
              ElementsAre(CsvRow{"[stubs]!call_stub", "4"}, CsvRow{"a.C.crc(long)", "3"},
                          CsvRow{"[0x2100]", "2"}));
}

TEST(HookReaderTest, UndefinedItemsAreReported) {
  TraceBuilder builder = OneHook();
  builder.HookCalls(9, 1, 1, 0, 4);
  builder.HookCalls(1, 1, 55, 0, 3);
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "tree", {"level", "calls", "kind", "name"}),
      ElementsAre(CsvRow{"0", "1", "", "main"}, CsvRow{"1", "2", "method", "a.B.run()"},
                  CsvRow{"2", "4", "native", "[hook 9]"}, CsvRow{"1", "0", "method", "[lost]"},
                  CsvRow{"2", "3", "native", "malloc"}));
  const std::string err = RunPost({"--report=tree", "t"}, {{"t", trace}}).err;
  EXPECT_THAT(err, HasSubstr("hook 9 was never defined"));
}

TEST(HookReaderTest, ADumpHasTheSameReports) {
  TraceBuilder builder = OneHook(proto::Hook::TIME);
  builder.Hook("libc.so.6!never", 0x5100, proto::Hook::COUNT, "libc.so.6!never");
  proto::HookCalls& calls = builder.HookCalls(1, 1, 1, 0x90, 4);
  calls.set_timed(3);
  calls.set_total_ns(800);
  calls.set_min_ns(100);
  calls.set_max_ns(500);
  const std::string trace = builder.Finish();
  const std::string dump = Dump(trace);
  EXPECT_THAT(dump, HasSubstr("\thook\tN:libc.so.6!malloc\ttime\tN:[0x8f]\tcalls=4,timed=3,"
                              "total=800,min=100,max=500\ta.B.run()\n"));
  EXPECT_EQ(Dump(dump), dump);
  for (const char* report :
       {"--report=summary,tree,flat,arcflow,hooks,threads,classes", "--report=hooks"}) {
    EXPECT_EQ(ReportCsv(dump, {report}), ReportCsv(trace, {report}));
  }
  EXPECT_EQ(RunPost({"--report=hooks", "t"}, {{"t", dump}}).out,
            RunPost({"--report=hooks", "t"}, {{"t", trace}}).out);
}

TEST(HookReaderTest, MalformedLinesAreReportedAndSkipped) {
  const std::string head = "# jtrace-text 1 unit=ns\n0\tmain\thook\t";
  for (const char* line :
       {"N:f\tcount\t", "N:f\tcounts\t\tcalls=1", "\tcount\t\tcalls=1", "N:f\tcount\t\tcalls=-1",
        "N:f\tcount\t\tcalls", "N:f\tcount\t\tcalls=1,what=2", "N:f\tcount\t\t"}) {
    const auto run = RunPost({"--report=tree", "t"}, {{"t", head + line + "\n"}});
    EXPECT_THAT(run.err, HasSubstr("op 'hook' is malformed")) << line;
    EXPECT_THAT(run.out, Not(HasSubstr(" f\n"))) << line;
  }
  EXPECT_EQ(RunPost({"--report=tree", "t"}, {{"t", head + "N:f\tcount\t\tcalls=1\n"}}).err, "");
}

TEST(HookReaderTest, FilesOfOneRecordingAddUp) {
  TraceBuilder first = OneHook();
  first.HookCalls(1, 1, 1, 0x90, 4);
  TraceBuilder second = OneHook();
  second.HookCalls(1, 1, 1, 0x90, 5);
  const auto run = RunPost({"--report=hooks", "--format=csv", "a", "b"},
                           {{"a", first.Finish()}, {"b", second.Finish()}});
  EXPECT_THAT(testing::ParseCsv(run.out).Project(kCallers),
              ElementsAre(CsvRow{"libc.so.6!malloc", "count", "main", "a.B.run()", "[0x8f]", "9"}));
}

}  // namespace
}  // namespace jtrace
