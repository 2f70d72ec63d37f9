// The tree as text: chains in one line, the heaviest nodes, the order of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/run_post.h"
#include "postproc/pipeline.h"

namespace jtrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Tree(const std::string& trace, std::vector<std::string> options) {
  options.insert(options.begin(), "--report=tree");
  options.emplace_back("trace");
  const testing::RunResult run = testing::RunPost(options, {{"trace", trace}});
  return run.exit_code == 0 ? run.out : run.err;
}

// The program is called by the JVM, sorts by the JDK, and is called back.
constexpr char kStacks[] =
    "# jtrace-text 1 unit=us\n"
    "1\tmain\tsample*60\tN:libc.so.6!clone3\tN:libc.so.6!start_thread\tN:libjli.so!JavaMain\t"
    "V:libjvm.so!call_stub\tC:a.Main.main(String[])\tC:java.util.List.sort()\t"
    "C:java.util.Arrays.sort()\tC:java.util.TimSort.sort()\tC:a.Order.compare(Object,Object)\n"
    "2\tmain\tsample*40\tN:libc.so.6!clone3\tN:libc.so.6!start_thread\tN:libjli.so!JavaMain\t"
    "V:libjvm.so!call_stub\tC:a.Main.main(String[])\n";

TEST(TreeTextTest, ChainsAreOneLine) {
  const std::string text = Tree(kStacks, {});
  EXPECT_EQ(
      text,
      "   share     ticks      self          calls  call tree\n"
      " 100.0 %       100                           thread main\n"
      " 100.0 %       100                           └─ … 4 frames of JVM start-up\n"
      " 100.0 %       100        40                    └─ a.Main.main(String[])\n"
      "  60.0 %        60                                 └─ … 3 frames of java.util\n"
      "  60.0 %        60        60                          └─ a.Order.compare(Object,Object)"
      "\n");
}

TEST(TreeTextTest, WithoutFoldingEachNodeHasItsLine) {
  const std::string text = Tree(kStacks, {"--fold=none"});
  EXPECT_THAT(text, Not(HasSubstr("…")));
  EXPECT_THAT(text, AllOf(HasSubstr("└─ clone3\n"), HasSubstr("└ java.util.TimSort.sort()\n")));
}

TEST(TreeTextTest, TwoNodesAreNoChain) {
  const std::string text = Tree(
      "# jtrace-text 1 unit=us\n1\tmain\tsample\tC:a.A.f()\tC:java.lang.B.g()\tC:java.lang.C.h()\n",
      {});
  EXPECT_THAT(text, AllOf(HasSubstr("java.lang.B.g()"), Not(HasSubstr("frames"))));
}

// What has weight itself, or leads to two others, is not in a chain.
TEST(TreeTextTest, HeavyNodesAndForksEndAChain) {
  std::string trace = "# jtrace-text 1 unit=us\n";
  const std::string down = "C:a.A.f()\tC:java.B.b()\tC:java.C.c()\tC:java.D.d()\tC:java.E.e()";
  trace += "1\tmain\tsample*50\t" + down + "\tC:java.F.f()\n";
  trace += "2\tmain\tsample*50\t" + down + "\tC:java.G.g()\n";
  EXPECT_THAT(Tree(trace, {}), AllOf(HasSubstr("… 3 frames of "), HasSubstr("java.E.e()")));
  trace += "3\tmain\tsample*10\tC:a.A.f()\tC:java.B.b()\n";
  EXPECT_THAT(Tree(trace, {}), AllOf(HasSubstr("java.B.b()"), Not(HasSubstr("frames"))));
}

// Methods of the program are one line if they are called equally often; where the program is
// entered stays.
TEST(TreeTextTest, ChainsOfTheProgramAreCalledEquallyOften) {
  std::string trace = "# jtrace-text 1 unit=us\n";
  int time = 0;
  const auto call = [&](const std::string& op, const std::string& name) {
    trace += std::to_string(time) + "\tmain\t" + op + "\t" + name + "\n";
  };
  const std::vector<std::string> names = {"org.h.A.main()", "org.h.B.b()", "org.h.C.c()",
                                          "org.h.D.d()",    "org.h.E.e()", "org.h.F.f()"};
  for (const std::string& name : names) call("enter", name);
  time = 100;
  for (auto name = names.rbegin(); name != names.rend(); ++name) call("exit", *name);
  const std::string text = Tree(trace, {});
  EXPECT_THAT(text,
              AllOf(HasSubstr("1  └─ org.h.A.main()"), HasSubstr("1     └─ … 4 frames of org.h\n"),
                    HasSubstr("100 µs              1        └─ org.h.F.f()")));
  call("enter", "org.h.A.main()");
  call("enter", "org.h.B.b()");
  EXPECT_THAT(Tree(trace, {}), Not(HasSubstr("frames")));
}

TEST(TreeTextTest, RecursionIsNamed) {
  std::string trace = "# jtrace-text 1 unit=us\n1\tmain\tsample\tC:a.A.main()";
  for (int i = 0; i < 1000; ++i) trace += "\tC:a.Deep.down(int)";
  EXPECT_THAT(Tree(trace + "\tC:a.A.end()\n", {}),
              AllOf(HasSubstr("… 1,000 frames of Deep.down\n"), HasSubstr("a.A.end()")));
}

// Functions without names have one line for each file, with all their self.
TEST(TreeTextTest, UnnamedFunctionsAreTheirFile) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "1\tmain\tsample*3\tJ:a.A.f()\tN:libx.so![libx.so+0x10]\tN:libx.so![libx.so+0x20]\n"
      "2\tmain\tsample*2\tJ:a.A.f()\tN:libx.so![libx.so+0x10]\n";
  const std::string text = Tree(trace, {});
  EXPECT_THAT(text, HasSubstr("100.0 %         5         5                    └─ [libx.so]\n"));
  EXPECT_THAT(text, Not(HasSubstr("+0x")));
  EXPECT_THAT(Tree(trace, {"--fold=none"}), HasSubstr("[libx.so+0x20]"));
}

TEST(TreeTextTest, TopShowsTheHeaviestNodesAndTheirCallers) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "1\tmain\tsample*3\tC:a.A.first()\n"
      "2\tmain\tsample*50\tC:a.A.second()\tC:a.A.deep()\n"
      "3\tmain\tsample*40\tC:a.A.third()\n"
      "4\tmain\tsample*7\tC:a.A.second()\tC:a.A.light()\n";
  const std::string text = Tree(trace, {"--top=2"});
  EXPECT_EQ(
      text,
      "   share     ticks      self          calls  call tree\n"
      " 100.0 %       100                           thread main\n"
      "  57.0 %        57                           ├─ a.A.second()\n"
      "  50.0 %        50        50                 │  └─ a.A.deep()\n"
      "  40.0 %        40        40                 └─ a.A.third()\n"
      "                          10                 … 2 nodes left out, together with 10.0 % of "
      "the whole\n");
  EXPECT_THAT(Tree(trace, {"--top=4"}), Not(HasSubstr("left out")));
  EXPECT_THAT(Tree(trace, {"--top=3"}), HasSubstr("… 1 node left out, with 3.0 % of the whole\n"));
}

// They may be heavier than the program.
TEST(TreeTextTest, ThreadsOfTheJvmComeLast) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "1\tC2 CompilerThre\tsample*70\tV:libjvm.so!Compile::Compile()\n"
      "2\tGC Thread#0\tsample*20\tV:libjvm.so!scan\n"
      "3\tworker\tsample*10\tC:a.A.run()\n";
  for (const char* report : {"tree", "threads", "bythread"}) {
    const std::string text =
        testing::RunPost({std::string("--report=") + report, "t"}, {{"t", trace}}).out;
    EXPECT_LT(text.find("worker"), text.find("C2 Compiler")) << text;
    EXPECT_LT(text.find("C2 Compiler"), text.find("GC Thread")) << text;
  }
  const auto rows = testing::Rows(trace, "threads", {"thread"});
  EXPECT_EQ(rows.front(), testing::CsvRow({"C2 CompilerThre"})) << "tables are by ticks";
}

// Sampled frames of a kind are their caller's self, and what they call is called by it.
TEST(TreeTextTest, FoldedKindsAreTheirCallers) {
  const std::string text = Tree(kStacks, {"--fold=jvm,native,jdk"});
  EXPECT_EQ(text,
            "   share     ticks      self          calls  call tree\n"
            " 100.0 %       100                           thread main\n"
            " 100.0 %       100        40                 └─ a.Main.main(String[])\n"
            "  60.0 %        60        60                    └─ a.Order.compare(Object,Object)\n");
  EXPECT_EQ(testing::Rows(kStacks, "tree", {"name"}).size(), 10u) << "tables are not folded";
  EXPECT_THAT(Tree(kStacks, {"--fold=jdk,javm"}), HasSubstr("nearest: jvm"));
}

// As a user sees it.
std::string OnTerminal(const std::string& trace, std::vector<std::string_view> args) {
  std::ostringstream out;
  std::ostringstream err;
  postproc::Environment environment{
      out, err, [&](const std::string&) { return postproc::InputFile::FromMemory(trace); }};
  environment.terminal_width = 100;
  args.insert(args.begin(), "--report=tree");
  args.emplace_back("trace");
  EXPECT_EQ(postproc::RunPostProcessor(args, environment), 0) << err.str();
  return out.str();
}

// Nobody reads a million lines on a screen. Files have all of them.
TEST(TreeTextTest, AScreenHasTheHeaviestNodes) {
  std::string trace = "# jtrace-text 1 unit=us\n";
  for (int i = 1; i <= 1'200; ++i) {
    trace += "0\tmain\tnode\tcalls=" + std::to_string(i) + "\ta.A.r" + std::to_string(i) + "()\n";
  }
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::string text = OnTerminal(trace, {});
  EXPECT_THAT(text, AllOf(HasSubstr(" a.A.r1200()\n"), HasSubstr(" a.A.r1171()\n"),
                          Not(HasSubstr(" a.A.r1170()\n")), HasSubstr("1,170 nodes left out"),
                          HasSubstr("\n--top=N or --filter=PERCENT shows more of the 1,201 nodes; "
                                    "--filter=0 or -o FILE all\n")));
  EXPECT_EQ(lines(text), 34) << text;
  EXPECT_EQ(lines(OnTerminal(trace, {"--filter=0"})), 1'202);
  EXPECT_EQ(lines(OnTerminal(trace, {"--top=5"})), 8);
  EXPECT_EQ(lines(OnTerminal(trace, {"--format=csv"})), 1'202);
  EXPECT_EQ(lines(Tree(trace, {})), 1'202) << "no terminal";
  EXPECT_THAT(OnTerminal(kStacks, {}), Not(HasSubstr("--top=N")));
}

TEST(TreeTextTest, NarrowLinesLeaveOutTimes) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n0\tmain\tenter\ta\n50\tmain\tsample*9\ta\n60\tmain\toff\n"
      "80\tmain\ton\n90\tmain\texit\ta\n";
  EXPECT_THAT(Tree(trace, {"--width=80"}),
              AllOf(HasSubstr("\nnot shown at this width: time, waiting (--wide)\n"),
                    HasSubstr("\n100.0 %        9        9      1  └─ a\n")));
  for (const char* wide : {"--wide", "--width=120"}) {
    EXPECT_THAT(Tree(trace, {wide}), AllOf(HasSubstr("  waiting  "), Not(HasSubstr("not shown"))));
  }
}

}  // namespace
}  // namespace jtrace
