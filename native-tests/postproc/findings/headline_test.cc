// The first screen: where the time went, and the program's heaviest methods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using ::testing::AllOf;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Rows;
using testing::RunPost;

// shop.Cart.add matches patterns (JDK), in which most of its time goes; the probes have some, the
// JIT, the collector and another thread of the JVM as well.
constexpr std::string_view kTrace =
    "# jtrace-text 1 unit=ms\n"
    "0\tmain\tenter\tshop.Main.run()\n"
    "1\tmain\tenter\tshop.Cart.add(int)\n"
    "2\tmain\tsample*30\tJ:shop.Main.run()\tC:shop.Cart.add(int)\tC:java.util.regex.Pattern."
    "compile()\n"
    "3\tmain\tsample*10\tJ:shop.Main.run()\tC:shop.Cart.add(int)\n"
    "4\tmain\tsample*20\tJ:shop.Main.run()\tC:shop.Cart.add(int)\tV:[jtrace probe]\n"
    "5\tmain\tsample*4\tJ:shop.Main.run()\tC:shop.Cart.add(int)\tN:libc.so.6!memcpy\n"
    "6\tmain\tenter\tshop.Item.price()\n"
    "7\tmain\texit\tshop.Item.price()\n"
    "7\tmain\tenter\tshop.Item.price()\n"
    "8\tmain\texit\tshop.Item.price()\n"
    "8\tmain\texit\tshop.Cart.add(int)\n"
    "9\tmain\tsample*6\tJ:shop.Main.run()\n"
    "9\tmain\texit\tshop.Main.run()\n"
    "9\tC2 CompilerThre\tsample*15\tV:libjvm.so!Compile::Compile()\n"
    "9\tG1 Main Marker\tsample*5\tV:libjvm.so!G1ConcurrentMark::mark()\n"
    "9\tVM Thread\tsample*10\tV:libjvm.so!VMThread::run()\n"
    "9\tVM Thread\tthread-start\tinternal\n";

TEST(HeadlineTest, EveryTickHasOneConsumer) {
  EXPECT_THAT(Rows(std::string(kTrace), "headline", {"list", "name", "amount"}),
              ::testing::IsSupersetOf({
                  CsvRow{"where", "program", "16"},
                  CsvRow{"part", "shop", "16"},
                  CsvRow{"where", "jdk", "30"},
                  CsvRow{"part", "java.util.regex", "30"},
                  CsvRow{"where", "jtrace", "20"},
                  CsvRow{"where", "native", "4"},
                  CsvRow{"part", "libc.so.6", "4"},
                  CsvRow{"where", "jit", "15"},
                  CsvRow{"where", "collector", "5"},
                  CsvRow{"where", "other", "10"},
              }));
}

// Pattern.compile's time is that of the method that runs it, the probes' is nobody's.
TEST(HeadlineTest, MethodsHaveTheCodeOfOthersThatTheyRun) {
  EXPECT_THAT(Rows(std::string(kTrace), "headline",
                   {"list", "name", "amount", "calls", "callers", "callee", "of_callee"}),
              ::testing::IsSupersetOf({
                  CsvRow{"heaviest", "shop.Cart.add(int)", "44", "1", "shop.Main.run()",
                         "java.util.regex.Pattern.compile()", "30"},
                  CsvRow{"heaviest", "shop.Main.run()", "6", "1", "", "", ""},
                  CsvRow{"called", "shop.Item.price()", "", "2",
                         "shop.Cart.add(int) < shop.Main.run()", "", ""},
              }));
}

TEST(HeadlineTest, TheFirstScreenHasTheAnswer) {
  const auto run = RunPost({"trace"}, {{"trace", std::string(kTrace)}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string screen = run.out.substr(0, run.out.find("call tree, hottest paths"));
  EXPECT_THAT(screen, AllOf(HasSubstr("program's threads"), HasSubstr("java.util.regex 30.0 %"),
                            HasSubstr("shop.Cart.add(int) → Pattern.compile 68.2 % ← Main.run"),
                            HasSubstr("JIT compiler        compiles the probes, too"),
                            Not(HasSubstr("(0x40)")), Not(HasSubstr("invariants"))));
  EXPECT_THAT(run.out, HasSubstr("── the recording ──"));
}

// Threads of a pool are one tree in text, and their own in tables.
TEST(AggregateTest, TextHasATreeForThreadsOfOneName) {
  std::string trace = "# jtrace-text 1 unit=ms\n";
  for (const std::string thread : {"exec-1", "exec-2", "exec-10", "other-1", "C1 Compiler0",
                                   "C2 Compiler0", "C2 Compiler1", "same", "same#2"}) {
    trace += "0\t" + thread + "\tenter\tA.a()\n5\t" + thread + "\texit\tA.a()\n";
  }
  const std::map<std::string, std::string> files = {{"trace", trace}};
  const std::string text = RunPost({"--report=tree", "trace"}, files).out;
  EXPECT_THAT(text, AllOf(HasSubstr("3 threads exec-*"), HasSubstr("thread other-1"),
                          HasSubstr("thread C1 Compiler0"), HasSubstr("2 threads C2 Compiler*"),
                          HasSubstr("2 threads same"), Not(HasSubstr("exec-1\n"))));
  EXPECT_THAT(RunPost({"--report=tree", "--aggregate=thread", "trace"}, files).out,
              AllOf(HasSubstr("thread exec-2"), Not(HasSubstr("exec-*"))));
  EXPECT_THAT(Rows(trace, "tree", {"thread", "calls", "name"}),
              ::testing::Contains(CsvRow{"exec-10", "1", "A.a()"}));
  const auto grouped =
      testing::ParseCsv(testing::ReportCsv(trace, {"--report=tree", "--aggregate=group"}));
  EXPECT_THAT(grouped.Project({"thread", "calls", "cum", "name"}),
              ::testing::IsSupersetOf(
                  {CsvRow{"exec-*", "3", "15", "A.a()"}, CsvRow{"other-1", "1", "5", "A.a()"}}));
}

// Waiting threads have ticks, too (timer=wall): of the program's, not of the JVM's.
TEST(HeadlineTest, RealTimeHasItsStates) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n"
      "0\tmain\tsample*20\tJ:shop.Main.run()\n"
      "1\tmain\tsample.parked@shop.Gate*60\tJ:shop.Main.run()\tC:jdk.internal.misc.Unsafe.park()\n"
      "2\tmain\tsample.parked*10\tJ:shop.Main.stop()\tC:jdk.internal.misc.Unsafe.park()\n"
      "3\tmain\tsample.sleeping*10\tC:java.lang.Thread.sleep(long)\n"
      "4\tC2 CompilerThre\tsample.blocked*900\tN:libc.so.6!wait\n";
  EXPECT_THAT(Rows(trace, "headline", {"list", "name", "amount", "callers", "callee", "of_callee"}),
              ::testing::IsSupersetOf({
                  CsvRow{"state", "parked", "70", "shop.Main.run()", "shop.Gate", "60"},
                  CsvRow{"state", "running", "20", "", "", "0"},
                  CsvRow{"state", "sleeping", "10", "", "", "0"},
              }));
  const std::string text = RunPost({"--report=headline", "t"}, {{"t", trace}}).out;
  EXPECT_THAT(text, HasSubstr("── real time of the program's threads: 100 ──\n"
                              "  70.0 %        70  parked       60.0 % in Main.run on shop.Gate\n"
                              "  20.0 %        20  running\n"
                              "  10.0 %        10  sleeping\n"));
}

// The methods belong in the first screen: the table has the other states.
TEST(HeadlineTest, TheGreatestStatesAreShown) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n"
      "0\tmain\tsample*50\tJ:shop.Main.run()\n"
      "1\tmain\tsample.parked*20\tJ:shop.Main.run()\tC:jdk.internal.misc.Unsafe.park()\n"
      "2\tmain\tsample.waiting*12\tJ:shop.Main.run()\tN:libc.so.6!wait\n"
      "3\tmain\tsample.sleeping*10\tC:java.lang.Thread.sleep(long)\n"
      "4\tmain\tsample.blocked*8\tJ:shop.Main.run()\tN:libc.so.6!read\n";
  EXPECT_THAT(Rows(trace, "headline", {"list", "name", "amount"}),
              ::testing::Contains(CsvRow{"state", "blocked", "8"}));
  EXPECT_THAT(RunPost({"--report=headline", "t"}, {{"t", trace}}).out,
              AllOf(HasSubstr("real time of the program's threads: 100, 4 of 5 states ──\n"),
                    HasSubstr("  10.0 %        10  sleeping"), Not(HasSubstr("  blocked"))));
}

// Without samples and clocks only calls are known.
TEST(HeadlineTest, CallsAloneHaveNoConsumers) {
  const std::string trace =
      "# jtrace-text 1 unit=ticks\n0\tmain\tenter\tshop.A.a()\n0\tmain\texit\tshop.A.a()\n";
  EXPECT_THAT(Rows(trace, "headline", {"list", "name", "calls"}),
              ElementsAre(CsvRow{"called", "shop.A.a()", "1"}));
}

}  // namespace
}  // namespace jtrace
