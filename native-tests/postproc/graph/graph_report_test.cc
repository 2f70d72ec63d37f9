// --report=graph: the figures' answers, and random traces against a naive graph made from the naive
// tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "native-tests/support/naive_post.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  std::ifstream file(std::string(JTRACE_SOURCE_DIR) + "/native-tests/golden/" + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<CsvRow> Graph(const std::string& trace, std::vector<std::string> args,
                          const CsvRow& columns) {
  args.emplace_back("--report=graph");
  return testing::ParseCsv(testing::ReportCsv(trace, std::move(args))).Project(columns);
}

TEST(GraphReportTest, TheTableOfCallersThatNeedNoAverage) {
  const CsvRow columns = {"caller", "callee", "calls", "total", "share", "width"};
  EXPECT_THAT(Graph(Golden("table2.jtxt"), {"--widths=linear"}, columns),
              ElementsAre(CsvRow{"[all threads]", "start", "1", "101100", "100.00", "10.00"},
                          CsvRow{"start", "main", "1", "101000", "99.90", "10.00"},
                          CsvRow{"main", "A", "1", "100000", "98.91", "10.00"},
                          CsvRow{"A", "B", "1", "50000", "49.46", "5.00"},
                          CsvRow{"A", "C", "1", "40000", "39.56", "4.00"},
                          CsvRow{"B", "D", "40", "30000", "29.67", "3.00"},
                          CsvRow{"C", "D", "40", "10000", "9.89", "1.00"}));
}

TEST(GraphReportTest, FilterZeroShowsAllFunctions) {
  const std::string trace =
      "# jtrace-text 1 unit=ns\n0\tm\tnode\tcalls=1,room=9\tA\n"
      "0\tm\tnode\tcalls=1,room=-2\tA\tFrees\n0\tm\tnode\tcalls=1\tA\tNone\n";
  EXPECT_THAT(Graph(trace, {"--filter=0", "--metric=room"}, {"caller", "callee"}),
              ::testing::UnorderedElementsAre(CsvRow{"[all threads]", "A"}, CsvRow{"A", "Frees"},
                                              CsvRow{"A", "None"}));
}

TEST(GraphReportTest, RecursionCountsEachMomentOnce) {
  const CsvRow columns = {"caller", "callee", "calls", "total", "total2", "inclusive", "recursion"};
  EXPECT_THAT(
      Graph(Golden("fig18a.jtxt"), {}, columns),
      ElementsAre(
          CsvRow{"[all threads]", "C", "1", "19", "19", "19", ""},
          CsvRow{"C", "B", "1", "9", "9", "9", ""}, CsvRow{"A", "B", "3", "4", "7", "7", "partly"},
          CsvRow{"B", "A", "2", "7", "8", "7", "partly"}, CsvRow{"C", "A", "1", "7", "7", "7", ""},
          CsvRow{"A", "X", "1", "1", "1", "1", ""}, CsvRow{"B", "B", "1", "0", "1", "1", "self"}));
}

// D under B and C, of 100: B 50 + 20 in D, C 10 + 5 in D.
constexpr char kDiamond[] =
    "# jtrace-text 1 unit=ms\n"
    "0\tt\tnode\tcalls=1,base=15\tA\n"
    "0\tt\tnode\tcalls=2,base=50\tA\tB\n"
    "0\tt\tnode\tcalls=7,base=20\tA\tB\tD\n"
    "0\tt\tnode\tcalls=3,base=10\tA\tC\n"
    "0\tt\tnode\tcalls=4,base=5\tA\tC\tD\n";

// D's own time is in the arcs from B and C, A's in that from the root.
TEST(GraphReportTest, WidthsMayFollowSelfTime) {
  const CsvRow columns = {"caller", "callee", "self", "self_share", "width"};
  EXPECT_THAT(
      Graph(kDiamond, {"--widths=linear", "--width-by=self", "--filter=0"}, columns),
      ElementsAre(CsvRow{"[all threads]", "A", "15", "15.00", "2.00"},
                  CsvRow{"A", "B", "50", "50.00", "5.00"}, CsvRow{"B", "D", "20", "20.00", "2.00"},
                  CsvRow{"A", "C", "10", "10.00", "1.00"}, CsvRow{"C", "D", "5", "5.00", "1.00"}));
  EXPECT_THAT(
      Graph(kDiamond, {"--widths=10:2,50:7", "--width-by=self", "--filter=0"}, {"width"}),
      ElementsAre(CsvRow{"2.00"}, CsvRow{"7.00"}, CsvRow{"2.00"}, CsvRow{"2.00"}, CsvRow{"1.00"}));
}

TEST(GraphReportTest, CollapsedCostIsAddedToTheCaller) {
  const CsvRow columns = {"caller", "callee", "calls", "calls_collapsed", "total"};
  // C has 15 %, D 25 %.
  EXPECT_THAT(
      Graph(kDiamond, {"--filter=20"}, columns),
      ElementsAre(CsvRow{"[all threads]", "A", "1", "0", "100"}, CsvRow{"A", "B", "2", "0", "70"},
                  CsvRow{"B", "D", "7", "0", "20"}, CsvRow{"A", "D", "4", "4", "5"}));
  const testing::RunResult text =
      testing::RunPost({"--report=graph", "--filter=20", "trace"}, {{"trace", kDiamond}});
  EXPECT_THAT(text.out, HasSubstr("3 of 4 routines, those with at least 20 % of 100 ms; 1 is "
                                  "collapsed into their callers (10.0 % of the whole, 3 calls)"));
}

TEST(GraphReportTest, AVirtualRootIsTheWhole) {
  const CsvRow columns = {"caller", "callee", "calls", "total", "share", "width"};
  EXPECT_THAT(Graph(kDiamond, {"--root=B", "--widths=linear"}, columns),
              ElementsAre(CsvRow{"[all threads]", "B", "2", "70", "100.00", "10.00"},
                          CsvRow{"B", "D", "7", "20", "28.57", "3.00"}));
}

TEST(GraphReportTest, BeginsWithThirtyFunctions) {
  std::string trace = "# jtrace-text 1 unit=ms\n";
  for (int i = 1; i <= 100; ++i) {
    const std::string number = std::to_string(i);
    trace += "0\tt\tnode\tcalls=1,base=" + number + "\tf" + number + "\n";
  }
  // Of 5,050 the thirtieth, f71, has 1.41 %: rounded up, f72 with 1.43 % is below it as well.
  EXPECT_EQ(Graph(trace, {}, {"callee"}).size(), 25u);  // 1.5 % are 75.75: f76 to f100
  EXPECT_EQ(Graph(trace, {"--filter=1.4"}, {"callee"}).size(), 30u);
  EXPECT_EQ(Graph(trace, {"--filter=0"}, {"callee"}).size(), 100u);
}

TEST(GraphReportTest, ATraceWithOnlyCallsMakesARiverOfCalls) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n0\tt\tnode\tcalls=1\tA\n0\tt\tnode\tcalls=9\tA\tB\n";
  EXPECT_THAT(Graph(trace, {}, {"caller", "callee", "calls", "total", "share", "unit"}),
              ElementsAre(CsvRow{"[all threads]", "A", "1", "10", "100.00", "calls"},
                          CsvRow{"A", "B", "9", "9", "90.00", "calls"}));
}

TEST(GraphReportTest, WrongWidthsAreNamed) {
  const testing::RunResult result = testing::RunPost({"--widths=linea", "trace"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("nearest: linear"));
}

// ---- the naive graph

struct NaiveTreeRow {
  std::string name;
  std::vector<std::string> path;  // routines above, outermost first
  bool is_root = false;
  int64_t calls = 0;
  int64_t self = 0;
  int64_t total = 0;
};

// Rows of NaivePost::Tree with each one's path, and its cost in the trace's heat.
std::vector<NaiveTreeRow> NaiveTree(const testing::NaivePost& naive) {
  const std::vector<CsvRow> table = naive.Tree();
  // thread level rl calls base cum elapsed base_ticks cum_ticks samples origin name
  bool ticks = false;
  bool time = false;
  for (const CsvRow& row : table) {
    if (row[1] != "0") continue;
    ticks |= row[8] != "0";
    time |= row[5] != "0";
  }
  std::vector<NaiveTreeRow> rows;
  std::vector<std::string> path;
  for (const CsvRow& cells : table) {
    NaiveTreeRow row;
    const size_t level = std::stoul(cells[1]);
    row.name = cells[11];
    row.is_root = level == 0;
    row.calls = std::stoll(cells[3]);
    row.self = ticks ? std::stoll(cells[7]) : time ? std::stoll(cells[4]) : level ? row.calls : 0;
    path.resize(level == 0 ? 0 : level - 1);
    row.path = path;
    if (level > 0) path.push_back(row.name);
    rows.push_back(row);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t depth = rows[i].is_root ? 0 : rows[i].path.size() + 1;
    rows[i].total = rows[i].self;
    for (size_t j = i + 1; j < rows.size() && !rows[j].is_root; ++j) {
      if (rows[j].path.size() + 1 <= depth) break;
      rows[i].total += rows[j].self;
    }
  }
  return rows;
}

struct NaiveArc {
  int64_t calls = 0;
  int64_t collapsed = 0;
  int64_t total = 0;
  int64_t total2 = 0;
  int64_t inclusive = 0;
};
using NaiveArcs = std::map<std::pair<std::string, std::string>, NaiveArc>;

bool Contains(const std::vector<std::string>& path, const std::string& name) {
  return std::find(path.begin(), path.end(), name) != path.end();
}

NaiveArcs NaiveGraph(const std::vector<NaiveTreeRow>& rows, double filter) {
  int64_t whole = 0;
  std::map<std::string, int64_t> totals;
  for (const NaiveTreeRow& row : rows) {
    if (row.is_root) {
      whole += row.total;
    } else if (!Contains(row.path, row.name)) {
      totals[row.name] += row.total;
    }
  }
  const auto shown = [&](const std::string& name) {
    const double total = static_cast<double>(totals[name]);
    return filter == 0 || (whole != 0 && 100.0 * total / static_cast<double>(whole) >= filter);
  };
  NaiveArcs arcs;
  for (const NaiveTreeRow& row : rows) {
    if (row.is_root || !shown(row.name)) continue;
    std::vector<std::string> above = {"[all threads]"};
    for (const std::string& name : row.path) {
      if (shown(name)) above.push_back(name);
    }
    NaiveArc& arc = arcs[{above.back(), row.name}];
    arc.calls += row.calls;
    const bool direct = row.path.empty() || shown(row.path.back());
    if (!direct) arc.collapsed += row.calls;
    arc.total2 += row.total;
    if (!Contains(row.path, row.name)) arc.total += row.total;
    bool again = false;
    for (size_t i = 1; i < above.size(); ++i) {
      again |= above[i - 1] == above.back() && above[i] == row.name;
    }
    if (!again) arc.inclusive += row.total;
  }
  return arcs;
}

std::string Show(const NaiveArcs& arcs) {
  std::string text;
  for (const auto& [names, arc] : arcs) {
    text += names.first + " > " + names.second;
    for (const int64_t value : {arc.calls, arc.collapsed, arc.total, arc.total2, arc.inclusive}) {
      text += " " + std::to_string(value);
    }
    text += "\n";
  }
  return text;
}

NaiveArcs ReportedGraph(const std::string& trace, const std::string& filter) {
  NaiveArcs arcs;
  for (const CsvRow& row :
       Graph(trace, {"--filter=" + filter},
             {"caller", "callee", "calls", "calls_collapsed", "total", "total2", "inclusive"})) {
    arcs[{row[0], row[1]}] = {std::stoll(row[2]), std::stoll(row[3]), std::stoll(row[4]),
                              std::stoll(row[5]), std::stoll(row[6])};
  }
  return arcs;
}

TEST(GraphReportTest, RandomTracesHaveTheNaiveGraph) {
  size_t arcs = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const std::vector<NaiveTreeRow> tree =
        NaiveTree(testing::NaivePost(trace, testing::NaiveMerge::kChain, false));
    for (const std::string filter : {"0", "25", "60"}) {
      const NaiveArcs expected = NaiveGraph(tree, std::stod(filter));
      ASSERT_EQ(Show(ReportedGraph(trace, filter)), Show(expected)) << filter << "\n" << trace;
      arcs += expected.size();
    }
  }
  EXPECT_GT(arcs, 1000u);
}

// The arcs into each routine add up to the flat list, by calls and by cost.
TEST(GraphReportTest, ArcsAddUpToTheFlatList) {
  for (uint64_t seed = 300; seed < 400; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    std::map<std::string, NaiveArc> into;
    std::string unit;
    for (const auto& [names, arc] : ReportedGraph(trace, "0")) {
      into[names.second].calls += arc.calls;
      into[names.second].total += arc.total;
      into[names.second].total2 += arc.total2;
    }
    for (const CsvRow& row : Graph(trace, {"--filter=0"}, {"unit"})) unit = row[0];
    const auto roots = testing::Rows(trace, "tree", {"level", "name"});
    std::set<std::string> threads;
    for (const CsvRow& row : roots) {
      if (row[0] == "0") threads.insert(row[1]);
    }
    const std::string cum = unit == "ticks" ? "cum_ticks" : "cum";
    const std::string cum2 = unit == "ticks" ? "cum2_ticks" : "cum2";
    for (const CsvRow& row : testing::Rows(trace, "flat", {"name", "calls", cum, cum2})) {
      if (threads.contains(row[0])) continue;
      EXPECT_EQ(std::to_string(into[row[0]].calls), row[1]) << row[0] << "\n" << trace;
      if (unit == "calls") continue;
      EXPECT_EQ(std::to_string(into[row[0]].total), row[2]) << row[0] << "\n" << trace;
      EXPECT_EQ(std::to_string(into[row[0]].total2), row[3]) << row[0] << "\n" << trace;
    }
  }
}

TEST(GraphReportTest, BinaryTracesAndTheirDumpsHaveTheSameGraph) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const std::string trace = testing::RandomBinaryTrace(seed);
    const testing::RunResult dump =
        testing::RunPost({"--report=dump", "trace"}, {{"trace", trace}});
    ASSERT_EQ(dump.exit_code, 0) << dump.err;
    EXPECT_EQ(testing::ReportCsv(trace, {"--report=graph"}),
              testing::ReportCsv(dump.out, {"--report=graph"}));
  }
}

}  // namespace
}  // namespace jtrace
