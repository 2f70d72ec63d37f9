// --metric on random traces: every report against the naive implementation, and invariants of any
// metric for any trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/naive_post.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/report_columns.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using testing::kArcs;
using testing::kFlat;
using testing::kPaths;
using testing::kTree;
using testing::NaiveMerge;
using testing::NaivePost;
using testing::RunResult;

constexpr uint64_t kTraces = 600;

// Empty if no record of the trace names the metric: then it is rejected.
std::vector<CsvRow> Columns(const std::string& trace, const std::string& metric,
                            std::vector<std::string> args, const CsvRow& columns) {
  args.push_back("--metric=" + metric);
  args.emplace_back("--format=csv");
  args.emplace_back("trace");
  const RunResult run = testing::RunPost(args, {{"trace", trace}});
  if (run.exit_code != 0) {
    EXPECT_NE(run.err.find(" in the trace; nearest: "), std::string::npos) << run.err << trace;
    EXPECT_EQ(trace.find(metric), std::string::npos) << run.err << trace;
    return {};
  }
  return testing::ParseCsv(run.out).Project(columns);
}

bool Has(const std::string& trace, const std::string& metric) {
  return trace.find(metric) != std::string::npos;
}

CsvRow With(CsvRow columns, const std::string& metric, bool cum2) {
  columns.push_back(metric + ".base");
  columns.push_back(metric + ".cum");
  if (cum2) columns.push_back(metric + ".cum2");
  return columns;
}

const CsvRow kCallees = {"path", "inclusive", "pct_of_subset", "exclusive",
                         "exclusive_pct_of_subset"};

TEST(MetricPropertyTest, TreesAndRoutinesEqualTheNaiveImplementation) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const NaivePost naive(trace, NaiveMerge::kChain, false);
    for (const std::string& metric : testing::RandomMetrics()) {
      if (!Has(trace, metric)) continue;
      ASSERT_EQ(Columns(trace, metric, {"--report=tree"}, With(kTree, metric, false)),
                naive.Tree(metric))
          << trace;
      ASSERT_EQ(Columns(trace, metric, {"--report=flat"}, With(kFlat, metric, true)),
                naive.Flat(metric))
          << trace;
      ASSERT_EQ(Columns(trace, metric, {"--report=arcflow"}, With(kArcs, metric, true)),
                naive.ArcFlow(metric))
          << trace;
    }
  }
}

TEST(MetricPropertyTest, PathsEqualTheNaiveImplementation) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const NaivePost naive(trace, NaiveMerge::kChain, false);
    for (const std::string& metric : testing::RandomMetrics()) {
      if (!Has(trace, metric)) continue;
      ASSERT_EQ(Columns(trace, metric, {"--report=paths"}, kPaths), naive.MetricPaths(metric))
          << trace;
      if (naive.Flat().empty() || !Has(trace, "\tA")) continue;
      const std::vector<CsvRow> callees = naive.MetricPaths(metric, "A");
      const RunResult found = testing::RunPost(
          {"--report=callees", "--of=A", "--metric=" + metric, "t"}, {{"t", trace}});
      if (found.exit_code != 0) continue;  // no node of that name: a frame that was not kept
      ASSERT_EQ(Columns(trace, metric, {"--report=callees", "--of=A"}, kCallees), callees) << trace;
      ASSERT_EQ(Columns(trace, metric, {"--report=callers", "--of=A"},
                        {"path", "inclusive", "exclusive"}),
                naive.MetricCallers(metric, "A"))
          << trace;
    }
  }
}

int64_t Number(const std::string& text) { return std::stoll(text); }

// Binary traces, whose metrics are totals by node, including the threads' roots.
TEST(MetricPropertyTest, SumsAgreeInEveryReport) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace =
        seed % 2 == 0 ? testing::RandomTextTrace(seed) : testing::RandomBinaryTrace(seed);
    const auto summary = testing::ParseCsv(testing::ReportCsv(trace, {"--report=summary"}));
    for (const CsvRow& row : summary.rows) {
      if (!row[0].starts_with("metric.")) continue;
      const std::string metric = row[0].substr(7);
      const int64_t total = Number(row[1]);
      const std::string base = metric + ".base";
      int64_t of_tree = 0;
      int64_t of_roots = 0;
      for (const CsvRow& node :
           Columns(trace, metric, {"--report=tree"}, {"level", base, metric + ".cum"})) {
        of_tree += Number(node[1]);
        if (node[0] == "0") of_roots += Number(node[2]);
      }
      int64_t of_flat = 0;
      for (const CsvRow& it : Columns(trace, metric, {"--report=flat"}, {base})) {
        of_flat += Number(it[0]);
      }
      int64_t of_paths = 0;
      for (const CsvRow& it : Columns(trace, metric, {"--report=paths"}, {"exclusive"})) {
        of_paths += Number(it[0]);
      }
      int64_t of_functions = 0;
      for (const CsvRow& it : Columns(trace, metric, {"--report=functions"}, {base})) {
        of_functions += Number(it[0]);
      }
      int64_t of_threads = 0;
      for (const CsvRow& it : Columns(trace, metric, {"--report=threads"}, {metric})) {
        of_threads += Number(it[0]);
      }
      ASSERT_EQ(
          std::vector<int64_t>({of_tree, of_roots, of_flat, of_paths, of_functions, of_threads}),
          std::vector<int64_t>(6, total))
          << seed << " " << metric;
    }
  }
}

// A node's value that is never negative is at most the whole of an outermost activation, and an
// inner activation only adds to cum2.
TEST(MetricPropertyTest, CumStaysBelowTheTotalAndCum2) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    std::string trace = testing::RandomTextTrace(seed);
    for (size_t at; (at = trace.find("\t-")) != std::string::npos;) trace.erase(at + 1, 1);
    for (const std::string& metric : testing::RandomMetrics()) {
      if (!Has(trace, metric)) continue;
      const int64_t total = NaivePost(trace, NaiveMerge::kChain, false).Total(metric);
      for (const CsvRow& row : Columns(trace, metric, {"--report=flat"}, With({}, metric, true))) {
        ASSERT_LE(Number(row[0]), Number(row[1])) << trace;
        ASSERT_LE(Number(row[1]), total) << trace;
        ASSERT_LE(Number(row[1]), Number(row[2])) << trace;
      }
    }
  }
}

// The invariants of FIG. 27, only from the rows.
TEST(MetricPropertyTest, TheArcFlowsInvariantsHold) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    for (const std::string& metric : testing::RandomMetrics()) {
      if (!Has(trace, metric)) continue;
      const auto rows = Columns(trace, metric, {"--report=arcflow"}, With({"row"}, metric, true));
      for (size_t begin = 0; begin < rows.size();) {
        std::map<std::string, std::vector<int64_t>> sums;  // base and cum by kind of row
        const CsvRow* self = nullptr;
        size_t end = begin;
        bool below = false;  // in the stanza's lower half
        for (; end < rows.size(); ++end) {
          const bool is_child = rows[end][0].ends_with("child");
          if (below && !is_child) break;
          below = below || rows[end][0] == "self";
          if (rows[end][0] == "self") self = &rows[end];
          std::vector<int64_t>& sum = sums[rows[end][0]];
          sum.resize(2);
          sum[0] += Number(rows[end][1]);
          sum[1] += Number(rows[end][2]);
        }
        ASSERT_NE(self, nullptr) << trace;
        const auto sum = [&](const std::string& kind, size_t i) {
          return sums.contains(kind) ? sums[kind][i] : 0;
        };
        const int64_t base = Number((*self)[1]);
        const int64_t cum = Number((*self)[2]);
        const int64_t cum2 = Number((*self)[3]);
        ASSERT_EQ(sum("child", 1) + sum("rchild", 1), cum2 - base) << trace;
        if (sums.contains("parent") || sums.contains("rparent")) {
          ASSERT_EQ(sum("parent", 0) + sum("rparent", 0), base) << trace;
          ASSERT_EQ(sum("parent", 1), cum) << trace;
          ASSERT_EQ(sum("parent", 1) + sum("rparent", 1), cum2) << trace;
        }
        begin = end;
      }
    }
  }
}

}  // namespace
}  // namespace jtrace
