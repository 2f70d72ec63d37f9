// Lines of text reports: not wider than the terminal, and the method's name is never cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/run_post.h"
#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace {
namespace {

using postproc::DisplayWidth;
using postproc::ShortenName;
using postproc::SplitName;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Values;

constexpr std::string_view kReports =
    "tree,flat,arcflow,functions,modules,samples,paths,threads,bythread,classes";

// Packages, classes and parameters are long, methods are "method17OfTheLongTrace"; `levels` deep.
std::string LongTrace(int levels) {
  const std::string package = "org.example.department.warehouse.inventory";
  std::string trace = "# jtrace-text 1 unit=us\n";
  std::string stack;
  int time = 0;
  for (int i = 0; i < levels; ++i) {
    const std::string name = package + ".AbstractInventoryItemFactoryBean" + std::to_string(i % 3) +
                             ".method" + std::to_string(i) +
                             "OfTheLongTrace(AbstractInventoryItem,String,List)";
    stack += "\tC:" + name;
    trace += std::to_string(++time) + "\tThe worker of the warehouse\tenter\t" + name + "\n";
    trace += std::to_string(++time) + "\tThe worker of the warehouse\tsample*20" + stack + "\n";
  }
  trace += std::to_string(++time) + "\tThe worker of the warehouse\tsample*10" + stack +
           "\tV:libjvm.so!PhaseChaitin::Split(unsigned int, ResourceArea*)"
           "\tV:libjvm.so!Iterator<std::tuple<unsigned int, long>>::apply_to_everything(Node*)\n";
  return trace;
}

class TextWidthTest : public ::testing::TestWithParam<int> {};

// The graph has two names in a line.
TEST_P(TextWidthTest, NoLineIsLonger) {
  for (const int levels : {3, 12}) {
    const testing::RunResult run =
        testing::RunPost({"--report=" + std::string(kReports) + (GetParam() > 100 ? ",graph" : ""),
                          "--width=" + std::to_string(GetParam()), "--fold=none", "t"},
                         {{"t", LongTrace(levels)}});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (const std::string_view line : postproc::Split(run.out, '\n')) {
      EXPECT_LE(DisplayWidth(line), GetParam()) << line;
    }
  }
}

TEST_P(TextWidthTest, NoMethodIsCut) {
  constexpr int kLevels = 12;
  // Of a path only some names are shown, and the arc flow has no line for each routine.
  for (const char* report : {"tree", "flat", "functions", "paths", "bythread", "arcflow"}) {
    const std::string text =
        testing::RunPost({std::string("--report=") + report,
                          "--width=" + std::to_string(GetParam()), "--fold=none", "t"},
                         {{"t", LongTrace(kLevels)}})
            .out;
    for (int i = 0; i < kLevels; ++i) {
      EXPECT_THAT(text, HasSubstr("method" + std::to_string(i) + "OfTheLongTrace")) << report;
    }
    EXPECT_THAT(text, HasSubstr("apply_to_everything")) << report;
  }
}

// A name that is wider than the line is all that is in it.
TEST_P(TextWidthTest, ALongMethodStandsAlone) {
  const std::string method(static_cast<size_t>(GetParam()), 'm');
  const std::string trace =
      "# jtrace-text 1 unit=us\n1\tT\tsample\tC:org.example.Owner." + method + "(int)\n";
  const std::string text = testing::RunPost({"--report=tree,flat,functions",
                                             "--width=" + std::to_string(GetParam()), "t"},
                                            {{"t", trace}})
                               .out;
  EXPECT_THAT(text, HasSubstr("└─ " + method + "\n"));
  EXPECT_THAT(text, Not(HasSubstr("Owner")));
}

// A level of a deep tree takes one column, and the deepest none.
TEST_P(TextWidthTest, DeepTreesFit) {
  std::string stack;
  for (int i = 0; i < 200; ++i)
    stack += "\tC:a.B" + std::to_string(i) + ".m" + std::to_string(i) + "()";
  const std::string text =
      testing::RunPost(
          {"--report=tree", "--fold=none", "--width=" + std::to_string(GetParam()), "t"},
          {{"t", "# jtrace-text 1 unit=us\n1\tT\tsample" + stack + "\n"}})
          .out;
  for (const std::string_view line : postproc::Split(text, '\n')) {
    EXPECT_LE(DisplayWidth(line), GetParam()) << line;
  }
  EXPECT_THAT(text, HasSubstr("⋯200 a.B199.m199()\n"));
  EXPECT_THAT(text, HasSubstr("  └ a.B")) << "one column a level";
}

INSTANTIATE_TEST_SUITE_P(Columns, TextWidthTest, Values(80, 100, 120, 200),
                         ::testing::PrintToStringParamName());

struct Split {
  std::string_view name, package, owner, method, parameters, rest;
};

TEST(NamePartsTest, AreFoundInAllKindsOfNames) {
  const Split cases[] = {
      {"org.h2.Page$Leaf.get(int,String):Object", "org.h2.", "Page$Leaf.", "get", "(int,String)",
       ":Object"},
      {"Main.<init>()", "", "Main.", "<init>", "()", ""},
      {"PhaseChaitin::Split(unsigned int, ResourceArea*)", "", "PhaseChaitin::", "Split",
       "(unsigned int, ResourceArea*)", ""},
      {"MemAllocator::allocate() const", "", "MemAllocator::", "allocate", "()", " const"},
      {"a::B<c::D, (E)2>::f<int>(G<H>)", "", "a::B<c::D, (E)2>::", "f", "<int>(G<H>)", ""},
      {"(anonymous namespace)::f(int)", "", "(anonymous namespace)::", "f", "(int)", ""},
      {"A::operator()(int)", "", "A::", "operator()", "(int)", ""},
      {"A::operator<(B)", "", "A::", "operator<", "(B)", ""},
      {"N:libc.so.6!malloc", "N:libc.so.6!", "", "malloc", "", ""},
      {"C:a.B.c()", "C:a.", "B.", "c", "()", ""},
      {"[libc.so.6+0x10]", "", "", "[libc.so.6+0x10]", "", ""},
      {"a plain text", "", "", "a plain text", "", ""},
      {"", "", "", "", "", ""},
  };
  for (const Split& it : cases) {
    const postproc::NameParts parts = SplitName(it.name);
    EXPECT_EQ(parts.package, it.package) << it.name;
    EXPECT_EQ(parts.owner, it.owner) << it.name;
    EXPECT_EQ(parts.method, it.method) << it.name;
    EXPECT_EQ(parts.parameters, it.parameters) << it.name;
    EXPECT_EQ(parts.rest, it.rest) << it.name;
  }
}

TEST(NamePartsTest, TheMethodGoesLast) {
  const std::string name = "org.h2.engine.SessionLocal.prepareCommand(String,int)";
  EXPECT_EQ(ShortenName(name, 30), "SessionLocal.prepareCommand(…)");
  EXPECT_EQ(ShortenName(name, 29), "SessionLocal.prepareCommand");
  EXPECT_EQ(ShortenName(name, 26), "Sessi…Local.prepareCommand");
  EXPECT_EQ(ShortenName(name, 20), "Se…al.prepareCommand");
  EXPECT_EQ(ShortenName(name, 19), "prepareCommand");
  EXPECT_EQ(ShortenName(name, 3), "prepareCommand");
  EXPECT_EQ(ShortenName(name + ":120", 34), "SessionLocal.prepareCommand(…):120");
  EXPECT_EQ(ShortenName(name + ":120", 9), "prepareCommand:120") << "a place in it";
  EXPECT_EQ(ShortenName("    " + name, 24), "    Se…al.prepareCommand");
  EXPECT_EQ(ShortenName("a.A.first() > b.B.second() > c.C.third()", 28),
            "… > B.second() > c.C.third()");
}

}  // namespace
}  // namespace jtrace
