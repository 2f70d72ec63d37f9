// Calls by the line that makes them (S4.4), worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReportCsv;
using testing::Rows;
using testing::RunPost;
using testing::TraceBuilder;

// A.a() calls B.b() from lines 120 and 125 and from code without lines, and itself from line 131.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tT\tnode\tcalls=1,base=10\tA.a()\n"
    "0\tT\tnode\tcalls=3,base=30\tA.a()\\:120\tB.b()\n"
    "0\tT\tnode\tcalls=5,base=50\tA.a()\\:125\tB.b()\n"
    "0\tT\tnode\tcalls=7,base=70\tA.a()\\@17\tB.b()\n"
    "0\tT\tnode\tcalls=2,base=1\tA.a()\\:131\tA.a()\n"
    "0\tT\tnode\tcalls=4,base=40\tA.a()\\:131\tA.a()\\:120\tB.b()\n"
    "0\tT\tsample-at*6\t2\tA.a()\\:125\tB.b()\tA.a()\\:125\tB.b()\\:9\tmemcpy\n";

TEST(SitesReportTest, TreeHasANodeForEachPlace) {
  EXPECT_THAT(Rows(kTrace, "tree", {"level", "rl", "calls", "cum", "base_ticks", "name", "site"}),
              ElementsAre(CsvRow{"0", "1", "1", "201", "0", "T", ""},
                          CsvRow{"1", "1", "1", "201", "0", "A.a()", ""},
                          CsvRow{"2", "1", "7", "70", "0", "A.a()@17 > B.b()", "A.a()@17"},
                          CsvRow{"2", "1", "5", "50", "0", "A.a():125 > B.b()", "A.a():125"},
                          CsvRow{"3", "1", "0", "0", "6", "B.b():9 > memcpy", "B.b():9"},
                          CsvRow{"2", "2", "2", "41", "0", "A.a():131 > A.a()", "A.a():131"},
                          CsvRow{"3", "1", "4", "40", "0", "A.a():120 > B.b()", "A.a():120"},
                          CsvRow{"2", "1", "3", "30", "0", "A.a():120 > B.b()", "A.a():120"}));
}

TEST(SitesReportTest, HasARowForEachPlaceAndRoutine) {
  EXPECT_THAT(Rows(kTrace, "sites", {"calls", "base", "cum", "cum2", "cum_ticks", "name", "site"}),
              ElementsAre(CsvRow{"1", "10", "201", "201", "6", "A.a()", ""},
                          CsvRow{"1", "0", "201", "201", "6", "T", ""},
                          CsvRow{"7", "70", "70", "70", "0", "A.a():120 > B.b()", "A.a():120"},
                          CsvRow{"7", "70", "70", "70", "0", "A.a()@17 > B.b()", "A.a()@17"},
                          CsvRow{"5", "50", "50", "50", "6", "A.a():125 > B.b()", "A.a():125"},
                          CsvRow{"2", "1", "41", "41", "0", "A.a():131 > A.a()", "A.a():131"},
                          CsvRow{"0", "0", "0", "0", "6", "B.b():9 > memcpy", "B.b():9"}));
}

// A call in the same place further up is not counted twice.
TEST(SitesReportTest, CumIsOverOutermostCallsOfThePlace) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1,base=1\tA\n"
      "0\tT\tnode\tcalls=1,base=10\tA\\:5\tA\n"
      "0\tT\tnode\tcalls=1,base=100\tA\\:5\tA\\:5\tA\n"
      "0\tT\tnode\tcalls=1,base=1000\tA\\:5\tA\\:6\tA\n";
  EXPECT_THAT(
      Rows(trace, "sites", {"calls", "cum", "cum2", "name"}),
      ElementsAre(CsvRow{"1", "1111", "1111", "A"}, CsvRow{"1", "1111", "1111", "T"},
                  CsvRow{"2", "1110", "1210", "A:5 > A"}, CsvRow{"1", "1000", "1000", "A:6 > A"}));
}

TEST(SitesReportTest, ArcFlowHasAnArcForEachPlace) {
  EXPECT_THAT(testing::ParseCsv(ReportCsv(kTrace, {"--report=arcflow", "--root=A.a()"}))
                  .Project({"self", "row", "calls", "name", "site"}),
              ElementsAre(CsvRow{"A.a()", "parent", "1", "T", ""},
                          CsvRow{"A.a()", "rparent", "2", "A.a():131 > A.a()", "A.a():131"},
                          CsvRow{"A.a()", "self", "3", "A.a()", ""},
                          CsvRow{"A.a()", "child", "7", "A.a()@17 > B.b()", "A.a()@17"},
                          CsvRow{"A.a()", "child", "5", "A.a():125 > B.b()", "A.a():125"},
                          CsvRow{"A.a()", "child", "2", "A.a():131 > A.a()", "A.a():131"},
                          CsvRow{"A.a()", "child", "3", "A.a():120 > B.b()", "A.a():120"},
                          CsvRow{"A.a()", "rchild", "4", "A.a():120 > B.b()", "A.a():120"},
                          CsvRow{"T", "self", "1", "T", ""}, CsvRow{"T", "child", "1", "A.a()", ""},
                          CsvRow{"B.b()", "parent", "7", "A.a()@17 > B.b()", "A.a()@17"},
                          CsvRow{"B.b()", "parent", "7", "A.a():120 > B.b()", "A.a():120"},
                          CsvRow{"B.b()", "parent", "5", "A.a():125 > B.b()", "A.a():125"},
                          CsvRow{"B.b()", "self", "19", "B.b()", ""},
                          CsvRow{"B.b()", "child", "0", "B.b():9 > memcpy", "B.b():9"},
                          CsvRow{"memcpy", "parent", "0", "B.b():9 > memcpy", "B.b():9"},
                          CsvRow{"memcpy", "self", "0", "memcpy", ""}));
}

TEST(SitesReportTest, CallersAndCalleesOfAFunctionAreByPlace) {
  const CsvRow columns = {"row", "calls", "calls_pct", "cum", "name", "site"};
  EXPECT_THAT(
      testing::ParseCsv(ReportCsv(kTrace, {"--report=function", "--of=B.b"})).Project(columns),
      ElementsAre(CsvRow{"caller", "7", "36.84", "70", "A.a():120 > B.b()", "A.a():120"},
                  CsvRow{"caller", "7", "36.84", "70", "A.a()@17 > B.b()", "A.a()@17"},
                  CsvRow{"caller", "5", "26.32", "50", "A.a():125 > B.b()", "A.a():125"},
                  CsvRow{"self", "19", "", "190", "B.b()", ""},
                  CsvRow{"callee", "0", "", "0", "B.b():9 > memcpy", "B.b():9"}));
  EXPECT_THAT(
      testing::ParseCsv(ReportCsv(kTrace, {"--report=function", "--of=A.a", "--metric=calls"}))
          .Project({"row", "calls", "calls.cum", "calls.cum_pct", "name", "site"}),
      ElementsAre(CsvRow{"caller", "1", "22", "100.00", "T", ""},
                  CsvRow{"caller", "2", "6", "27.27", "A.a():131 > A.a()", "A.a():131"},
                  CsvRow{"self", "3", "22", "", "A.a()", ""},
                  CsvRow{"callee", "7", "7", "31.82", "A.a():120 > B.b()", "A.a():120"},
                  CsvRow{"callee", "7", "7", "31.82", "A.a()@17 > B.b()", "A.a()@17"},
                  CsvRow{"callee", "2", "6", "27.27", "A.a():131 > A.a()", "A.a():131"},
                  CsvRow{"callee", "5", "5", "22.73", "A.a():125 > B.b()", "A.a():125"}));
}

TEST(SitesReportTest, TheGraphHasAnArcForEachPlace) {
  const CsvRow columns = {"caller", "callee", "calls", "calls_collapsed", "total", "site"};
  const auto graph = [&](const std::string& filter) {
    return testing::ParseCsv(
               ReportCsv(kTrace, {"--report=graph", "--metric=calls", "--filter=" + filter}))
        .Project(columns);
  };
  EXPECT_THAT(graph("0"), ElementsAre(CsvRow{"[all threads]", "A.a()", "1", "0", "22", ""},
                                      CsvRow{"A.a()", "B.b()", "7", "0", "7", "A.a()@17"},
                                      CsvRow{"A.a()", "B.b()", "7", "0", "7", "A.a():120"},
                                      CsvRow{"A.a()", "A.a()", "2", "0", "0", "A.a():131"},
                                      CsvRow{"A.a()", "B.b()", "5", "0", "5", "A.a():125"},
                                      CsvRow{"B.b()", "memcpy", "0", "0", "0", "B.b():9"}));
  const std::string text = RunPost({"--report=graph", "trace"}, {{"trace", kTrace}}).out;
  EXPECT_THAT(text, HasSubstr("A.a():125 → B.b()"));
  EXPECT_THAT(text, HasSubstr("A.a():131 ↻ A.a()"));
  const std::string dot = RunPost({"--report=dot", "trace"}, {{"trace", kTrace}}).out;
  EXPECT_THAT(dot, HasSubstr("label=\":125\\n5 calls\\n"));
  EXPECT_THAT(dot, HasSubstr("label=\"@17\\n7 calls\\n"));
}

TEST(SitesReportTest, PathsHaveThePlaceOfEachCaller) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1\tA\n0\tT\tnode\tcalls=5\tA\\:2\tB\n"
      "1\tT\tsample*3\tA\\:2\tB\\@7\tread\n"
      "2\tT\tsample\tA\\:3\tB\\@7\tread\n"
      "3\tT\tsample*2\tA\\:3\tB\n";
  const auto paths = [&](std::vector<std::string> args) {
    return testing::ParseCsv(ReportCsv(trace, std::move(args)))
        .Project({"path", "inclusive", "exclusive"});
  };
  EXPECT_THAT(paths({"--report=paths"}),
              ElementsAre(CsvRow{"A", "6", "0"}, CsvRow{"A:2 > B", "3", "0"},
                          CsvRow{"A:2 > B@7 > read", "3", "3"}, CsvRow{"A:3 > B", "3", "2"},
                          CsvRow{"A:3 > B@7 > read", "1", "1"}));
  EXPECT_THAT(paths({"--report=paths", "--sites=off"}),
              ElementsAre(CsvRow{"A", "6", "0"}, CsvRow{"A > B", "6", "2"},
                          CsvRow{"A > B > read", "4", "4"}));
  EXPECT_THAT(
      paths({"--report=callers", "--of=read"}),
      ElementsAre(CsvRow{"A:2 > B@7 > read", "3", "3"}, CsvRow{"A:3 > B@7 > read", "1", "1"}));
  EXPECT_THAT(paths({"--report=callees", "--of=B"}),
              ElementsAre(CsvRow{"B", "6", "2"}, CsvRow{"B@7 > read", "4", "4"}));
  EXPECT_THAT(paths({"--report=callers", "--of=B", "--metric=calls"}),
              ElementsAre(CsvRow{"A:2 > B", "5", "5"}));
  // Ticks go to the node of their line, which events counted.
  EXPECT_THAT(
      Rows(trace, "tree", {"calls", "cum_ticks", "origin", "name"}),
      ElementsAre(CsvRow{"1", "6", "thread", "T"}, CsvRow{"1", "6", "event", "A"},
                  CsvRow{"5", "3", "event", "A:2 > B"}, CsvRow{"0", "3", "sample", "B@7 > read"},
                  CsvRow{"0", "3", "sample", "A:3 > B"}, CsvRow{"0", "1", "sample", "B@7 > read"}));
  const std::string text = RunPost({"--report=paths", "trace"}, {{"trace", trace}}).out;
  EXPECT_THAT(text, HasSubstr("  :3 > B\n"));
}

// What a collapsed routine calls is called from where its own caller called it.
TEST(SitesReportTest, CollapsedCallersPassTheirPlaceOn) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1,base=0\tA\n"
      "0\tT\tnode\tcalls=3,base=0\tA\\:7\tH\n"
      "0\tT\tnode\tcalls=4,base=40\tA\\:7\tH\\:1\tB\n"
      "0\tT\tnode\tcalls=5,base=50\tA\\:7\tH\\:2\tB\n"
      "0\tT\tnode\tcalls=2,base=10\tA\\:8\tB\n"
      "0\tT\tnode\tcalls=1,base=1000\tA\\:9\tC\n"
      "0\tT\tnode\tcalls=0,base=0\tX\n";
  EXPECT_THAT(testing::ParseCsv(ReportCsv(trace, {"--report=graph", "--filter=9.09"}))
                  .Project({"caller", "callee", "calls", "calls_collapsed", "total", "site"}),
              ElementsAre(CsvRow{"[all threads]", "A", "1", "0", "1100", ""},
                          CsvRow{"A", "C", "1", "0", "1000", "A:9"},
                          CsvRow{"A", "B", "9", "9", "90", "A:7"},
                          CsvRow{"A", "B", "2", "0", "10", "A:8"}));
}

// The chain passes A.b() below two calls of A.a(): one sample at that path without places.
TEST(SitesReportTest, WithoutSitesASampleCountsOnceAtANode) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1\tA\n"
      "0\tT\tnode\tcalls=1\tA\\:2\tX\n"
      "0\tT\tsample-at*3\t2\tA\\:2\tX\tA\\:1\tX\\:5\tY\\:6\tX\\:5\tY\n";
  const auto samples = [&](const std::string& sites) {
    return testing::ParseCsv(ReportCsv(trace, {"--report=tree", "--sort=first", sites}))
        .Project({"level", "samples", "base_ticks", "name"});
  };
  EXPECT_THAT(samples("--sites=on"),
              ElementsAre(CsvRow{"0", "0", "0", "T"}, CsvRow{"1", "0", "0", "A"},
                          CsvRow{"2", "0", "0", "A:2 > X"}, CsvRow{"3", "1", "3", "X:5 > Y"},
                          CsvRow{"2", "1", "0", "A:1 > X"}, CsvRow{"3", "1", "0", "X:5 > Y"}));
  EXPECT_THAT(samples("--sites=off"),
              ElementsAre(CsvRow{"0", "0", "0", "T"}, CsvRow{"1", "0", "0", "A"},
                          CsvRow{"2", "1", "0", "X"}, CsvRow{"3", "1", "3", "Y"}));
}

TEST(SitesReportTest, WithoutSitesTheyAreOneNode) {
  EXPECT_THAT(testing::ParseCsv(ReportCsv(kTrace, {"--report=tree", "--sites=off"}))
                  .Project({"level", "calls", "cum", "name"}),
              ElementsAre(CsvRow{"0", "1", "201", "T"}, CsvRow{"1", "1", "201", "A.a()"},
                          CsvRow{"2", "15", "150", "B.b()"}, CsvRow{"3", "0", "0", "memcpy"},
                          CsvRow{"2", "2", "41", "A.a()"}, CsvRow{"3", "4", "40", "B.b()"}));
  EXPECT_EQ(ReportCsv(kTrace, {"--report=tree", "--sites=off"}).find("site"), std::string::npos);
}

TEST(SitesReportTest, HeaderIsAContract) {
  const std::string csv = ReportCsv(kTrace, {"--report=sites"});
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "calls,base,cum,cum2,elapsed,base_ticks,cum_ticks,cum2_ticks,samples,name,"
            "calls_jitted,min_base,max_base,site");
  const std::string chosen = ReportCsv(kTrace, {"--report=sites", "--metric=calls"});
  EXPECT_THAT(chosen.substr(0, chosen.find('\n')),
              HasSubstr("calls.base,calls.cum,calls.cum2,site"));
}

TEST(SitesReportTest, TextShowsTheLineBesideTheName) {
  const auto text = [](std::vector<std::string> args) {
    args.emplace_back("trace");
    return RunPost(args, {{"trace", kTrace}}).out;
  };
  EXPECT_THAT(text({"--report=tree"}), HasSubstr(":131 > A.a()"));
  EXPECT_THAT(text({"--report=arcflow"}), HasSubstr("┌ A.a()@17"));
  EXPECT_THAT(text({"--report=arcflow"}), HasSubstr("└ @17 > B.b()"));
  const std::string function = text({"--report=function", "--of=B.b"});
  EXPECT_THAT(function, HasSubstr("  A.a():125 > B.b()\n"));
  EXPECT_EQ(function.find("site"), std::string::npos);
  const std::string sites = text({"--report=sites", "--top=1", "--sort=calls"});
  EXPECT_THAT(sites, HasSubstr("A.a():120"));
  EXPECT_EQ(sites.find("A.a()@17"), std::string::npos);
}

TEST(SitesReportTest, RefusesWhatCannotBe) {
  const auto error = [](const std::string& trace, std::vector<std::string> args) {
    args.emplace_back("trace");
    const testing::RunResult result = RunPost(args, {{"trace", trace}});
    EXPECT_NE(result.exit_code, 0);
    return result.err;
  };
  const std::string plain = "# jtrace-text 1 unit=us\n0\tT\tnode\tcalls=1\tA\tB\n";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--report=sites"}, {"--report=tree", "--sites=on"}}) {
    EXPECT_EQ(error(plain, args),
              "jtrace-post: the trace has no call sites; record with sites=on\n");
  }
  EXPECT_EQ(error(kTrace, {"--report=flat", "--sites=on"}),
            "jtrace-post: --sites needs a report that shows call sites, such as tree, arcflow, "
            "function or html\n");
  EXPECT_EQ(error(kTrace, {"--report=sites", "--sites=off"}),
            "jtrace-post: --sites=off: leaves nothing of --report=sites; use flat\n");
}

TEST(SitesReportTest, BinaryTracesHaveThePlaceOfEachNode) {
  TraceBuilder builder;
  const uint32_t main = builder.Thread("main", 7);
  const uint32_t owner = builder.Class("a.B");
  const uint32_t run = builder.Routine(owner, "run", "()V");
  const uint32_t get = builder.Routine(owner, "get", "()V");
  const auto node = [&](uint32_t parent, uint32_t routine, uint32_t place, uint64_t calls) {
    const uint32_t number = builder.Node(main, parent, routine);
    builder.chunk().mutable_tree()->rbegin()->add_new_place(place);
    builder.Count(main, number, calls);
    return number;
  };
  const uint32_t top = node(0, run, 0, 1);
  node(top, get, 120 << 1, 5);
  const uint32_t last = node(top, get, 7 << 1 | 1, 4);
  node(top, get, 65'536 << 1, 2);  // not a line
  node(last, run, 0, 3);
  const std::string trace = builder.Finish();
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "name"}),
              ElementsAre(CsvRow{"0", "1", "main"}, CsvRow{"1", "1", "a.B.run()"},
                          CsvRow{"2", "5", "a.B.run():120 > a.B.get()"},
                          CsvRow{"2", "4", "a.B.run()@7 > a.B.get()"},
                          CsvRow{"3", "3", "a.B.run()"}, CsvRow{"2", "2", "a.B.get()"}));
}

// A name may look like one with a place: only the backslash of a dump makes it one.
TEST(SitesReportTest, NamesThatLookLikePlacesStayNames) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tT\tnode\tcalls=1\tA:5\tB\n"
      "0\tT\tnode\tcalls=1\tA\\\\:5\tB\n"
      "0\tT\tnode\tcalls=1\tA\\:0\tB\n"
      "0\tT\tnode\tcalls=1\tA\\:70000\tB\n"
      "0\tT\tnode\tcalls=2\tA\\\\\\:5\tB\n";
  EXPECT_THAT(Rows(trace, "sites", {"calls", "name"}),
              ::testing::Contains(CsvRow{"2", "A\\:5 > B"}));
  EXPECT_THAT(Rows(trace, "flat", {"calls", "name"}), ::testing::Contains(CsvRow{"6", "B"}));
  const std::string dump = RunPost({"dump", "trace"}, {{"trace", trace}}).out;
  EXPECT_EQ(ReportCsv(dump, {"--report=tree"}), ReportCsv(trace, {"--report=tree"}));
}

}  // namespace
}  // namespace jtrace
