// The rules about time: for each, traces in which it finds something and traces in which it must
// not.
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

const FindingTrace::Path kGet = {"shop.Main.run()", "shop.Shop.doGet()"};
const FindingTrace::Path kMatches = {"shop.Main.run()", "shop.Shop.doGet()",
                                     "shop.Catalog.matches(String)"};
constexpr char kCompile[] = "C:java.util.regex.Pattern.compile(String)";

// doGet is called 20 times and calls matches 2,000 times each.
FindingTrace Shop() {
  FindingTrace trace;
  trace.Calls({"shop.Main.run()"}, 1).Calls(kGet, 20).Calls(kMatches, 40'000);
  return trace;
}

TEST(CostlySetupTest, APatternCompiledAtEachCall) {
  EXPECT_THAT(Shop()
                  .Ticks(kMatches, {"C:java.lang.String.matches(String)", kCompile}, 900)
                  .Ticks(kMatches, {kCompile, "I:java.util.regex.Pattern.expr()"}, 80)
                  .Ticks(kMatches, {}, 20)
                  .Of("costly-setup"),
              ElementsAre(CsvRow{"98.00", "time",
                                 "shop.Catalog.matches(String) runs 2,000 times per "
                                 "shop.Shop.doGet(); 98.0 % of its time is Pattern.compile"}));
}

// The time of the program's callees is in the method's own time with callees; without a caller that
// repeats, only the calls are said.
TEST(CostlySetupTest, APartOfTheTimeWithoutARepeatingCaller) {
  FindingTrace trace;
  trace.Calls({"shop.Main.run()"}, 1).Calls({"shop.Main.run()", "shop.A.text(int)"}, 5000);
  trace.Ticks({"shop.Main.run()", "shop.A.text(int)"},
              {"C:java.lang.String.format(String,Object[])", "C:java.util.Formatter.parse()"}, 60);
  trace.Ticks({"shop.Main.run()", "shop.A.text(int)"}, {"C:shop.B.b()"}, 60);
  trace.Ticks({"shop.Main.run()"}, {}, 280);
  EXPECT_THAT(trace.Of("costly-setup"),
              ElementsAre(CsvRow{"15.00", "time",
                                 "shop.A.text(int) runs 5,000 times, all from shop.Main.run(); "
                                 "50.0 % of its time is String.format"}));
}

// The JIT's time and that of probes count for nobody.
TEST(CostlySetupTest, SharesAreOfTheProgramsTime) {
  EXPECT_THAT(Shop()
                  .Ticks(kMatches, {kCompile}, 60)
                  .Ticks(kMatches, {"V:[jtrace probe]"}, 5000)
                  .Ticks(kGet, {}, 40)
                  .Record("C2 CompilerThre\tsample*9000\tV:libjvm.so!Compile::Compile()")
                  .Of("costly-setup"),
              ElementsAre(CsvRow{"60.00", "time",
                                 "shop.Catalog.matches(String) runs 2,000 times per "
                                 "shop.Shop.doGet(); 100.0 % of its time is Pattern.compile"}));
}

TEST(CostlySetupTest, NotBelowItsShareOfTheTime) {
  EXPECT_THAT(Shop().Ticks(kMatches, {kCompile}, 490).Ticks(kGet, {}, 9510).Of("costly-setup"),
              IsEmpty());
}

TEST(CostlySetupTest, NotByFewTicks) {
  EXPECT_THAT(Shop().Ticks(kMatches, {kCompile}, 49).Of("costly-setup"), IsEmpty());
}

TEST(CostlySetupTest, NotOfAMethodThatIsCalledSeldom) {
  FindingTrace trace;
  trace.Calls({"shop.Main.run()"}, 1).Calls({"shop.Main.run()", "shop.A.init()"}, 99);
  EXPECT_THAT(trace.Ticks({"shop.Main.run()", "shop.A.init()"}, {kCompile}, 900).Of("costly-setup"),
              IsEmpty());
}

TEST(CostlySetupTest, NotOfANameThatOnlyBeginsSo) {
  EXPECT_THAT(Shop()
                  .Ticks(kMatches, {"C:java.util.regex.Pattern.compiled(String)"}, 900)
                  .Ticks(kMatches, {"C:java.util.regex.Matcher.find()"}, 900)
                  .Of("costly-setup"),
              IsEmpty());
}

// Samples of events are not of time, and those without callers show nothing of what a method runs.
TEST(CostlySetupTest, NeedsStacksAndTime) {
  for (const std::string fact : {"interval_events\t1000", "stack\tpc", "stack\tapp"}) {
    FindingTrace trace = Shop().Meta("session\t" + fact).Ticks(kMatches, {kCompile}, 900);
    EXPECT_TRUE(trace.IsNotRecorded("costly-setup")) << fact;
    EXPECT_TRUE(trace.IsNotRecorded("exceptions")) << fact;
    EXPECT_TRUE(trace.IsNotRecorded("boxing")) << fact;
  }
  FindingTrace trace = Shop().Meta("session\tstack\tfull").Ticks(kMatches, {kCompile}, 900);
  EXPECT_FALSE(trace.IsNotRecorded("costly-setup"));
}

// Without samples the time of a clock counts, where it has calls out of scope.
TEST(CostlySetupTest, TheTimeOfAClock) {
  const std::string compile = "java.util.regex.Pattern.compile(String)";
  const std::string begin = "main\tnode\tcalls=500,base=60\tshop.Main.run()\tshop.A.find()";
  FindingTrace trace;
  trace.Calls({"shop.Main.run()"}, 1).Record(begin);
  EXPECT_TRUE(trace.IsNotRecorded("costly-setup"));
  trace.Meta("routine\tcall\t\t" + compile).Record(begin + "\t" + compile);
  EXPECT_THAT(trace.Of("costly-setup"),
              ElementsAre(CsvRow{"50.00", "time",
                                 "shop.A.find() runs 500 times, all from shop.Main.run(); 50.0 % "
                                 "of its time is Pattern.compile"}));
}

// Without calls nothing is known about repetition.
TEST(CostlySetupTest, NeedsCalls) {
  FindingTrace trace;
  trace.Record("main\tsample*900\tJ:shop.A.a()\t" + std::string(kCompile));
  EXPECT_TRUE(trace.IsNotRecorded("costly-setup"));
  EXPECT_FALSE(Shop().Ticks(kMatches, {}, 1).IsNotRecorded("costly-setup"));
}

const FindingTrace::Path kParse = {"shop.Main.run()", "shop.Parser.parse(String)"};

FindingTrace Parser() {
  FindingTrace trace;
  trace.Calls({"shop.Main.run()"}, 1).Calls(kParse, 20'000);
  return trace;
}

TEST(ExceptionsTest, TheirTimeIsOfTheMethodThatMakesThem) {
  EXPECT_THAT(Parser()
                  .Ticks(kParse,
                         {"C:shop.Unknown.<init>()", "I:java.lang.Throwable.<init>()",
                          "N:java.lang.Throwable.fillInStackTrace(int)"},
                         300)
                  .Ticks({"shop.Main.run()"},
                         {"V:libjvm.so!OptoRuntime::handle_exception_C(JavaThread*)"}, 100)
                  .Ticks(kParse, {}, 600)
                  .Of("exceptions"),
              ElementsAre(CsvRow{"40.00", "time",
                                 "exceptions take 40.0 % of the time, 75.0 % of it in "
                                 "shop.Parser.parse(String)"}));
}

TEST(ExceptionsTest, OfTheJdkCountToo) {
  EXPECT_THAT(Parser()
                  .Ticks(kParse,
                         {"C:java.lang.Integer.parseInt(String)",
                          "I:java.lang.NumberFormatException.<init>(String)",
                          "I:java.lang.Throwable.<init>(String)"},
                         100)
                  .Of("exceptions"),
              ElementsAre(CsvRow{"100.00", "time",
                                 "exceptions take 100.0 % of the time, 100.0 % of it in "
                                 "shop.Parser.parse(String)"}));
}

TEST(ExceptionsTest, TheirNumberWhereThereAreNoSamples) {
  FindingTrace trace = Parser();
  trace.Meta("routine\tthrown\t\t[thrown] shop.Unknown");
  FindingTrace::Path thrown = kParse;
  thrown.emplace_back("[thrown] shop.Unknown");
  EXPECT_THAT(
      trace.Calls(thrown, 10'000).Of("exceptions"),
      ElementsAre(CsvRow{"50.00", "calls",
                         "shop.Parser.parse(String) throws 10,000 exceptions, about 0.5 per "
                         "call"}));
}

TEST(ExceptionsTest, NotBelowItsShareOfTheTime) {
  EXPECT_THAT(Parser()
                  .Ticks(kParse, {"C:java.lang.Throwable.<init>()"}, 490)
                  .Ticks(kParse, {}, 9510)
                  .Of("exceptions"),
              IsEmpty());
}

TEST(ExceptionsTest, NotForOtherConstructors) {
  EXPECT_THAT(Parser().Ticks(kParse, {"C:shop.Throwable.<init>()"}, 900).Of("exceptions"),
              IsEmpty());
}

TEST(ExceptionsTest, NotForFewOrRareOnes) {
  FindingTrace trace = Parser();
  trace.Meta("routine\tthrown\t\t[thrown] shop.Unknown");
  trace.Calls({"shop.Main.run()", "shop.Parser.parse(String)", "[thrown] shop.Unknown"}, 9999);
  trace.Calls({"shop.Main.run()", "shop.A.a()"}, 1'000'000);
  trace.Calls({"shop.Main.run()", "shop.A.a()", "[thrown] shop.Unknown"}, 20'000);
  EXPECT_THAT(trace.Of("exceptions"), IsEmpty());
}

// Without samples and counts nothing is known of them.
TEST(ExceptionsTest, NeedsSamplesOrCounts) {
  EXPECT_TRUE(Parser().IsNotRecorded("exceptions"));
  EXPECT_FALSE(Parser().Meta("session\tcodes\t+thrown;+caught").IsNotRecorded("exceptions"));
}

const FindingTrace::Path kStart = {"app.Main.main(String[])"};
constexpr char kLoad[] = "C:java.lang.ClassLoader.loadClass(String)";

FindingTrace Loads(int classes) {
  FindingTrace trace;
  trace.Calls(kStart, 1);
  for (int i = 0; i < classes; ++i) {
    trace.Record("\tclass-load\tapp.part.C" + std::to_string(i) + "\tmethods=3");
  }
  for (int i = 0; i < 1000; ++i) {
    trace.Record("\tclass-load\tjava.util.C" + std::to_string(i) + "\tmethods=3");
  }
  return trace;
}

TEST(ClassLoadingTest, ByTheLoadersOfTheJdk) {
  EXPECT_THAT(Loads(300)
                  .Ticks(kStart, {kLoad, "C:java.util.zip.Inflater.inflate()"}, 50)
                  .Ticks(kStart, {}, 50)
                  .Of("class-loading"),
              ElementsAre(CsvRow{"50.00", "time",
                                 "class loading takes 50.0 % of the time: 300 classes besides the "
                                 "JDK's"}));
}

TEST(ClassLoadingTest, ByTheJvm) {
  EXPECT_THAT(Loads(200)
                  .Ticks(kStart,
                         {"V:libjvm.so!InterpreterRuntime::_new(JavaThread*)",
                          "V:libjvm.so!SystemDictionary::resolve_or_fail(Symbol*)"},
                         40)
                  .Ticks(kStart, {"V:libjvm.so!InstanceKlass::link_class_impl(JavaThread*)"}, 20)
                  .Ticks(kStart, {}, 140)
                  .Of("class-loading"),
              ElementsAre(CsvRow{"30.00", "time",
                                 "class loading takes 30.0 % of the time: 200 classes besides the "
                                 "JDK's"}));
}

// The agent's rewriting of classes is not the program's time.
TEST(ClassLoadingTest, WithoutTheAgentsPart) {
  EXPECT_THAT(Loads(300)
                  .Ticks(kStart, {kLoad}, 60)
                  .Ticks(kStart, {kLoad, "N:libjtrace.so!Rewrite()", "N:libc.so.6!memcpy"}, 900)
                  .Ticks(kStart, {}, 140)
                  .Of("class-loading"),
              ElementsAre(CsvRow{"30.00", "time",
                                 "class loading takes 30.0 % of the time: 300 classes besides the "
                                 "JDK's"}));
}

TEST(ClassLoadingTest, NotBelowItsShareOfTheTime) {
  EXPECT_THAT(Loads(300).Ticks(kStart, {kLoad}, 190).Ticks(kStart, {}, 810).Of("class-loading"),
              IsEmpty());
}

TEST(ClassLoadingTest, NotForFewClasses) {
  EXPECT_THAT(Loads(199).Ticks(kStart, {kLoad}, 900).Of("class-loading"), IsEmpty());
}

// What an initialiser does is not loading, although loading led to it.
TEST(ClassLoadingTest, NotForTheProgramsInitialisers) {
  EXPECT_THAT(Loads(300).Ticks(kStart, {kLoad, "C:app.Table.<clinit>()"}, 900).Of("class-loading"),
              IsEmpty());
}

const FindingTrace::Path kAdd = {"app.Main.main(String[])", "app.Sum.add(int)"};
constexpr char kBox[] = "java.lang.Integer.valueOf(int)";

FindingTrace Sums() {
  FindingTrace trace;
  trace.Calls(kStart, 1).Calls(kAdd, 1'000'000);
  return trace;
}

TEST(BoxingTest, ByItsTime) {
  EXPECT_THAT(Sums().Ticks(kAdd, {"I:" + std::string(kBox)}, 60).Ticks(kAdd, {}, 140).Of("boxing"),
              ElementsAre(CsvRow{"30.00", "time",
                                 "app.Sum.add(int) boxes numbers for 30.0 % of the time: "
                                 "java.lang.Integer.valueOf(int)"}));
}

TEST(BoxingTest, ByItsCallsWhereTheyAreCounted) {
  FindingTrace trace = Sums();
  trace.Meta("routine\tcall\t\t" + std::string(kBox));
  EXPECT_THAT(trace.Calls({kAdd[0], kAdd[1], kBox}, 3'000'000).Of("boxing"),
              ElementsAre(CsvRow{"75.00", "calls",
                                 "app.Sum.add(int) boxes 3,000,000 times, 3 per call: "
                                 "java.lang.Integer.valueOf(int)"}));
}

TEST(BoxingTest, OfEachKindOfNumber) {
  EXPECT_THAT(Sums()
                  .Ticks(kAdd, {"I:java.lang.Double.valueOf(double)"}, 100)
                  .Ticks(kAdd, {"I:java.lang.Long.valueOf(long)"}, 60)
                  .Of("boxing"),
              ElementsAre(CsvRow{"62.50", "time",
                                 "app.Sum.add(int) boxes numbers for 62.5 % of the time: "
                                 "java.lang.Double.valueOf(double)"},
                          CsvRow{"37.50", "time",
                                 "app.Sum.add(int) boxes numbers for 37.5 % of the time: "
                                 "java.lang.Long.valueOf(long)"}));
}

TEST(BoxingTest, NotForParsedText) {
  EXPECT_THAT(Sums().Ticks(kAdd, {"C:java.lang.Integer.valueOf(String)"}, 900).Of("boxing"),
              IsEmpty());
}

TEST(BoxingTest, NotBelowItsShareOfTheTime) {
  EXPECT_THAT(
      Sums().Ticks(kAdd, {"I:" + std::string(kBox)}, 490).Ticks(kAdd, {}, 9510).Of("boxing"),
      IsEmpty());
}

TEST(BoxingTest, NotForFewCalls) {
  FindingTrace trace = Sums();
  trace.Meta("routine\tcall\t\t" + std::string(kBox));
  EXPECT_THAT(trace.Calls({kAdd[0], kAdd[1], kBox}, 999'999).Of("boxing"), IsEmpty());
}

}  // namespace
}  // namespace jtrace
