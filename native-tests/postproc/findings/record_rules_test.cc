// The rules about records: waits for monitors, and the JIT compiler's code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/postproc/findings/finding_trace.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using testing::FindingTrace;
using ::testing::IsEmpty;

constexpr char kTake[] = "shop.Stock.take()";

// The recording lasts a second.
FindingTrace Second() {
  FindingTrace trace;
  return trace.Record("main\tenter\tshop.Main.run()")
      .At(1000)
      .Record("main\texit\tshop.Main.run()");
}

FindingTrace WaitedRecords(int waits, int each, const std::string& kind = "monitor") {
  FindingTrace trace = Second();
  for (int i = 0; i < waits; ++i) {
    trace.Record("w\twaited-" + kind + "\thow=owned\tvalue=" + std::to_string(each) +
                 "\ton=shop.Stock\tfor=v\tat=" + kTake);
  }
  return trace;
}

TEST(MonitorsTest, FromTheRecordsOfTheirEnds) {
  EXPECT_THAT(WaitedRecords(20, 30).Of("monitors"),
              ElementsAre(CsvRow{"60.00", "real time",
                                 "threads wait 600 ms in 20 waits for monitors of shop.Stock in "
                                 "shop.Stock.take()"}));
}

TEST(MonitorsTest, FromTheMetric) {
  FindingTrace trace = Second();
  trace.Record("main\tnode\tcalls=5,monitor.wait.ns=100000000\tshop.Main.run()\t" +
               std::string(kTake));
  EXPECT_THAT(trace.Of("monitors"),
              ElementsAre(CsvRow{"10.00", "real time",
                                 "threads wait 100 ms for monitors in shop.Stock.take()"}));
}

// Ticks of a known length are real time of the recording.
TEST(MonitorsTest, FromSamplesInRealTime) {
  FindingTrace trace = Second();
  trace.Record("w\tsample.monitor@shop.Stock*75\tJ:shop.Stock.take()\tC:java.lang.Object.a()");
  trace.Record("w\tsample*25\tJ:shop.Stock.take()");
  EXPECT_THAT(trace.Of("monitors"),
              ElementsAre(CsvRow{"7.50", "real time",
                                 "threads wait 75.0 ms for monitors of shop.Stock in "
                                 "shop.Stock.take()"}));
}

TEST(MonitorsTest, NotBelowItsShareOfTheTime) {
  EXPECT_THAT(WaitedRecords(49, 1).Of("monitors"), IsEmpty());
  FindingTrace trace = WaitedRecords(20, 10);
  EXPECT_THAT(trace.At(5000).Record("main\texit\tshop.A.a()").Of("monitors"), IsEmpty());
}

TEST(MonitorsTest, NotForFewWaits) { EXPECT_THAT(WaitedRecords(9, 90).Of("monitors"), IsEmpty()); }

TEST(MonitorsTest, NotForOtherWaits) {
  FindingTrace parks = WaitedRecords(20, 30, "park");
  parks.Record("w\twaited-monitor\thow=owned\tvalue=1\ton=shop.Stock\tfor=v\tat=" +
               std::string(kTake));
  EXPECT_THAT(parks.Of("monitors"), IsEmpty());
  FindingTrace trace = Second();
  trace.Record("w\tsample.parked@shop.Gate*900\tJ:shop.Stock.take()");
  EXPECT_THAT(trace.Of("monitors"), IsEmpty());
}

TEST(MonitorsTest, NeedsRecordsOfWaits) {
  EXPECT_TRUE(Second().IsNotRecorded("monitors"));
  EXPECT_FALSE(Second().Meta("session\tcodes\t+owner;+join;+unpark").IsNotRecorded("monitors"));
  EXPECT_FALSE(Second().Meta("session\ttimer\twall").IsNotRecorded("monitors"));
  EXPECT_FALSE(Second()
                   .Meta("session\toptions\tmode=events,metrics=monitor.wait.ns;gc.ns")
                   .IsNotRecorded("monitors"));
}

constexpr char kRun[] = "app.Main.run()";

std::string Load(const std::string& method, int address, const std::string& rest) {
  return "\tjit-load\t" + method + "\taddress=0x" + std::to_string(address) + "\t" + rest;
}

// run, which C2 compiled, calls `callee`, which ran compiled except for the first calls.
FindingTrace CallsFromRun(const std::string& callee, int64_t calls) {
  FindingTrace trace;
  trace.Calls({kRun}, 1).Calls({kRun, callee}, calls, calls - 100);
  return trace;
}
std::string LoadOfRun() { return Load(kRun, 9000, "size=500\tmethod=1\tlevel=4\tbytecodes=90"); }

TEST(NotInlinedTest, TooMuchBytecode) {
  FindingTrace trace = CallsFromRun("app.Big.big()", 2'000'000);
  trace.Record(Load("app.Big.big()", 1000, "size=900\tmethod=2\tlevel=4\tbytecodes=400"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"),
              ElementsAre(CsvRow{"100.00", "calls",
                                 "the JIT compiler does not inline app.Big.big() into "
                                 "app.Main.run(): too big"}));
}

TEST(NotInlinedTest, TooMuchCode) {
  FindingTrace trace = CallsFromRun("app.Big.wide()", 1'000'000);
  trace.Record(Load("app.Big.wide()", 1000, "size=9000\tmethod=2\tlevel=4\tbytecodes=200"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"),
              ElementsAre(CsvRow{"100.00", "calls",
                                 "the JIT compiler does not inline app.Big.wide() into "
                                 "app.Main.run(): too big"}));
}

TEST(NotInlinedTest, CallsOfThreeClasses) {
  FindingTrace trace = CallsFromRun("app.A.area()", 3'000'000);
  trace.Calls({kRun, "app.B.area()"}, 1'000'000, 1'000'000);
  trace.Calls({kRun, "app.C.area()"}, 1'000'000, 1'000'000);
  int method = 2;
  for (const std::string name : {"app.A.area()", "app.B.area()", "app.C.area()"}) {
    trace.Record(Load(name, 1000 * method,
                      "size=90\tmethod=" + std::to_string(method) + "\tlevel=4\tbytecodes=9"));
    ++method;
  }
  const std::string begin = "the JIT compiler does not inline app.";
  const std::string end = ".area() into app.Main.run(): megamorphic";
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"),
              ElementsAre(CsvRow{"60.00", "calls", begin + "A" + end},
                          CsvRow{"20.00", "calls", begin + "B" + end},
                          CsvRow{"20.00", "calls", begin + "C" + end}));
}

TEST(NotInlinedTest, NotWhatIsInlined) {
  FindingTrace trace = CallsFromRun("app.A.small()", 2'000'000);
  trace.Record(Load("app.A.small()", 1000, "size=90\tmethod=2\tlevel=4\tbytecodes=400"));
  trace.Record(LoadOfRun());
  trace.Record(
      "\tjit-inlining\tapp.Main.run()\taddress=0x9000\tsize=0\tmethod=1\t@57\t"
      "2/400 app.A.small()\t13/90 app.Main.run()");
  EXPECT_THAT(trace.Of("not-inlined"), IsEmpty());
}

TEST(NotInlinedTest, NotNativeMethodsAndRecursion) {
  FindingTrace trace = CallsFromRun("app.A.fast()", 2'000'000);
  trace.Record(Load("app.A.fast()", 1000, "size=90\tmethod=2\tmodifiers=256"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"), IsEmpty());
}

TEST(NotInlinedTest, NotFewOrRareCalls) {
  FindingTrace trace = CallsFromRun("app.Big.big()", 999'999);
  trace.Record(Load("app.Big.big()", 1000, "size=900\tmethod=2\tlevel=4\tbytecodes=400"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"), IsEmpty());
  trace = CallsFromRun("app.Big.big()", 2'000'000);
  trace.Calls({kRun, "app.A.small()"}, 18'000'001, 18'000'001);
  trace.Record(Load("app.Big.big()", 1000, "size=900\tmethod=2\tlevel=4\tbytecodes=400"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"), IsEmpty());
}

TEST(NotInlinedTest, NotCallsThatRanInterpreted) {
  FindingTrace trace;
  trace.Calls({kRun}, 1).Calls({kRun, "app.Big.big()"}, 2'000'000, 900'000);
  trace.Record(Load("app.Big.big()", 1000, "size=900\tmethod=2\tlevel=4\tbytecodes=400"));
  EXPECT_THAT(trace.Record(LoadOfRun()).Of("not-inlined"), IsEmpty());
}

FindingTrace Compiled(int pieces, int64_t ticks, int64_t others = 0) {
  FindingTrace trace;
  trace.Calls({kRun}, 1).Ticks({kRun}, {}, ticks);
  if (others > 0) trace.Ticks({"app.Main.other()"}, {}, others);
  for (int i = 0; i < pieces; ++i) {
    trace.Record(Load(kRun, 1000 + i, "size=500\tmethod=1\tlevel=4\tbytecodes=90"));
  }
  return trace;
}

TEST(DiscardedCodeTest, CodeOfOneEntryMadeAgain) {
  EXPECT_THAT(Compiled(11, 500).Of("discarded-code"),
              ElementsAre(CsvRow{"100.00", "time",
                                 "the JVM discarded the compiled code of app.Main.run() 10 times, "
                                 "mostly by deoptimisation"}));
}

TEST(DiscardedCodeTest, CodeOfALoopMadeAgain) {
  FindingTrace trace = Compiled(1, 300);
  for (int i = 0; i < 21; ++i) {
    trace.Record(Load(kRun, 5000 + i, "size=500\tmethod=1\tlevel=4\tosr=31\tbytecodes=90"));
  }
  EXPECT_THAT(trace.Of("discarded-code"),
              ElementsAre(CsvRow{"100.00", "time",
                                 "the JVM discarded the compiled code of app.Main.run() 20 times, "
                                 "mostly by deoptimisation"}));
}

TEST(DiscardedCodeTest, WithASmallShareOfTheTime) {
  EXPECT_THAT(Compiled(31, 100, 4900).Of("discarded-code"),
              ElementsAre(CsvRow{"2.00", "time",
                                 "the JVM discarded the compiled code of app.Main.run() 30 times, "
                                 "mostly by deoptimisation"}));
}

TEST(DiscardedCodeTest, NotForFewPieces) {
  EXPECT_THAT(Compiled(10, 500).Of("discarded-code"), IsEmpty());
}

TEST(DiscardedCodeTest, NotWithoutTime) {
  EXPECT_THAT(Compiled(30, 9, 4991).Of("discarded-code"), IsEmpty());
}

TEST(DiscardedCodeTest, NotForBetterCodeAndOtherEntries) {
  FindingTrace trace = Compiled(0, 500);
  for (int i = 0; i < 40; ++i) {
    trace.Record(Load(kRun, 1000 + i,
                      "size=500\tmethod=1\tlevel=" + std::to_string(i % 2 + 3) +
                          "\tosr=" + std::to_string(i / 2 + 1)));
  }
  EXPECT_THAT(trace.Of("discarded-code"), IsEmpty());
}

}  // namespace
}  // namespace jtrace
