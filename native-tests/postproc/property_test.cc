// Random traces: every column against the naive implementation, every dump against its trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/naive_post.h"
#include "native-tests/support/path_places.h"
#include "native-tests/support/random_log.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/report_columns.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using testing::kArcs;
using testing::kFlat;
using testing::kHooks;
using testing::kPaths;
using testing::kTree;
using testing::NaiveMerge;
using testing::NaivePost;

constexpr uint64_t kTextTraces = 1500;
constexpr uint64_t kBinaryTraces = 1000;
constexpr uint64_t kLogs = 1000;

std::string Show(const std::vector<CsvRow>& rows) {
  std::string text;
  for (const CsvRow& row : rows) {
    for (const std::string& cell : row) text += cell + ",";
    text += "\n";
  }
  return text;
}

std::string Report(const std::string& trace, const std::string& report, const CsvRow& columns,
                   const std::vector<std::string>& args) {
  std::vector<std::string> all = {"--report=" + report};
  all.insert(all.end(), args.begin(), args.end());
  return Show(testing::ParseCsv(testing::ReportCsv(trace, all)).Project(columns));
}

struct Variant {
  NaiveMerge merge;
  bool app;
  std::vector<std::string> args;
};

TEST(PropertyTest, EveryColumnEqualsTheNaiveImplementation) {
  const std::vector<Variant> variants = {
      {NaiveMerge::kChain, false, {}},
      {NaiveMerge::kChain, true, {"--scope=app"}},
      {NaiveMerge::kEmbed, false, {"--merge=embed"}},
      {NaiveMerge::kNone, false, {"--merge=none"}},
  };
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    for (const Variant& variant : variants) {
      const NaivePost naive(trace, variant.merge, variant.app);
      ASSERT_EQ(Report(trace, "tree", kTree, variant.args), Show(naive.Tree())) << trace;
      ASSERT_EQ(Report(trace, "flat", kFlat, variant.args), Show(naive.Flat())) << trace;
      ASSERT_EQ(Report(trace, "arcflow", kArcs, variant.args), Show(naive.ArcFlow())) << trace;
      ASSERT_EQ(Report(trace, "paths", kPaths, variant.args), Show(naive.Paths())) << trace;
      ASSERT_EQ(Report(trace, "hooks", kHooks, variant.args), Show(naive.Hooks())) << trace;
    }
  }
}

// The CSV of all reports.
std::string AllCsv(const std::string& trace, const std::string& of) {
  std::string all;
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"--report=summary,tree,flat,arcflow,functions,modules,samples,paths,threads,metrics,"
            "jit,hooks"},
           {"--report=tree,arcflow,graph,function", "--of=" + of, "--sites=off"},
           {"--report=callees,callers", "--of=" + of},
           {"--report=tree,samples,paths,flat", "--scope=app"},
           {"--report=tree,flat", "--merge=embed", "--sort=name"},
           {"--report=tree", "--merge=none", "--sort=first"},
           {"--report=tree,hooks", "--aggregate=process", "--sort=first"},
           {"--report=tree,threads", "--root=" + of, "--sort=calls"}}) {
    all += testing::ReportCsv(trace, args);
  }
  return all;
}

std::string Dump(const std::string& trace) {
  const testing::RunResult result = testing::RunPost({"dump", "t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 0);
  return result.out;
}

TEST(PropertyTest, TextDumpIsTheSameTrace) {
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const std::string dump = Dump(trace);
    ASSERT_EQ(AllCsv(dump, "A"), AllCsv(trace, "A")) << trace;
    ASSERT_EQ(Dump(dump), dump) << trace;
  }
}

TEST(PropertyTest, BinaryDumpHasTheSameReports) {
  for (uint64_t seed = 0; seed < kBinaryTraces; ++seed) {
    const std::string trace = testing::RandomBinaryTrace(seed);
    const std::string dump = Dump(trace);
    ASSERT_EQ(AllCsv(dump, "a.B.run"), AllCsv(trace, "a.B.run")) << seed << "\n" << dump;
    ASSERT_EQ(Dump(dump), dump) << seed;
  }
}

// Logs with times, switches, samples and dropped stretches, cut into chunks, against the same
// records as text. (The order of threads depends on how a chunk is read.)
TEST(PropertyTest, LogsEqualTheNaiveImplementation) {
  const auto by_thread = [](std::vector<CsvRow> rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CsvRow& a, const CsvRow& b) { return a[0] < b[0]; });
    return Show(rows);
  };
  for (uint64_t seed = 0; seed < kLogs; ++seed) {
    const testing::RandomLog log = testing::MakeRandomLog(seed);
    const NaivePost naive(log.text, NaiveMerge::kChain, false);
    const auto tree =
        testing::ParseCsv(testing::ReportCsv(log.binary, {"--report=tree"})).Project(kTree);
    ASSERT_EQ(by_thread(tree), by_thread(naive.Tree())) << log.text;
    ASSERT_EQ(Report(log.binary, "flat", kFlat, {}), Show(naive.Flat())) << log.text;
    ASSERT_EQ(Report(log.binary, "arcflow", kArcs, {}), Show(naive.ArcFlow())) << log.text;
    ASSERT_EQ(Report(Dump(log.binary), "tree", kTree, {}), Report(log.binary, "tree", kTree, {}));
  }
}

// What is merged is the trace that had no places.
TEST(PropertyTest, ReportsWithoutPlacesAreThoseOfATraceWithoutThem) {
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const std::string placed = testing::WithCallPlaces(trace, seed);
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"--report=flat"},
             {"--report=threads"},
             {"--report=samples"},
             {"--report=hooks"},
             {"--report=graph,arcflow,function,paths,callees,callers", "--of=B", "--sites=off"},
             {"--report=paths,callees,callers", "--of=B", "--metric=calls", "--sites=off"},
             {"--report=tree", "--sites=off", "--sort=first", "--scope=app"},
             {"--report=tree", "--sites=off", "--root=A"},
             {"--report=tree", "--sites=off", "--merge=embed"},
             {"--report=tree", "--sites=off", "--merge=none"}}) {
      if (args.back() == "--root=A" && trace.find("\tA") == std::string::npos) continue;
      ASSERT_EQ(testing::ReportCsv(placed, args), testing::ReportCsv(trace, args)) << placed;
    }
  }
}

// Files too, byte for byte.
TEST(PropertyTest, FilesWithoutPlacesAreThoseOfATraceWithoutThem) {
  for (uint64_t seed = 0; seed < kTextTraces / 4; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const std::string placed = testing::WithCallPlaces(trace, seed);
    for (const std::string report :
         {"collapsed", "speedscope", "callgrind", "pprof", "dot", "html"}) {
      const auto file = [&](const std::string& of) {
        return testing::RunPost({"--report=" + report, "--sites=off", "t"}, {{"t", of}}).out;
      };
      ASSERT_TRUE(file(placed) == file(trace)) << report << "\n" << placed;
    }
  }
}

TEST(PropertyTest, DumpsKeepPlaces) {
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::WithCallPlaces(testing::RandomTextTrace(seed), seed);
    const std::string dump = Dump(trace);
    ASSERT_EQ(AllCsv(dump, "A"), AllCsv(trace, "A")) << trace;
    ASSERT_EQ(Dump(dump), dump) << trace;
  }
}

// A sample that has a routine's node of two places in its chain counts in each: `samples` is not
// compared.
// The sums of each routine over its rows.
std::map<std::string, std::vector<int64_t>> SumsByRoutine(const std::string& trace,
                                                          const std::string& report) {
  std::map<std::string, std::vector<int64_t>> sums;
  const CsvRow columns = {"name", "calls", "base", "cum2", "base_ticks", "cum2_ticks"};
  for (const CsvRow& row : testing::Rows(trace, report, columns)) {
    // Names may have " > " themselves, but not after a place.
    std::vector<int64_t>& sum = sums[testing::AfterLastPlace(row[0])];
    sum.resize(columns.size() - 1);
    for (size_t i = 1; i < row.size(); ++i) sum[i - 1] += std::stoll(row[i]);
  }
  return sums;
}

TEST(PropertyTest, PlacesOfARoutineAddUpToIt) {
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::WithCallPlaces(testing::RandomTextTrace(seed), seed);
    if (testing::ReportCsv(trace, {"--report=sites"}).starts_with("exit")) continue;
    ASSERT_EQ(SumsByRoutine(trace, "sites"), SumsByRoutine(trace, "flat")) << trace;
  }
}

// "4 of 4 hold", and Σ base_ticks = Σ weights of the samples.
TEST(PropertyTest, InvariantsHoldAndEverySampleCountsOnce) {
  for (uint64_t seed = 0; seed < kTextTraces; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    const testing::Csv summary = testing::ParseCsv(testing::ReportCsv(trace, {"--report=summary"}));
    std::string held;
    int64_t ticks = -1;
    for (const CsvRow& row : summary.rows) {
      if (row[0] == "invariants_held") held = row[1];
      if (row[0] == "ticks") ticks = std::stoll(row[1]);
    }
    ASSERT_EQ(held, "4") << trace;
    int64_t sum = 0;
    for (const CsvRow& row :
         testing::ParseCsv(testing::ReportCsv(trace, {"--report=tree"})).Project({"base_ticks"})) {
      sum += std::stoll(row[0]);
    }
    ASSERT_EQ(sum, ticks) << trace;
  }
}

}  // namespace
}  // namespace jtrace
