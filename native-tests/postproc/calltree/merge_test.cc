// Several traces in one report (S3.21): the report on them together is the sum of the reports on
// each, whatever their order; so it does not matter which are merged first.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::Csv;
using testing::CsvRow;
using testing::ParseCsv;
using testing::RunPost;

constexpr uint64_t kTriples = 100;
const std::vector<std::string> kFiles = {"a", "b", "c"};

std::map<std::string, std::string> Triple(uint64_t seed) {
  return {{"a", testing::RandomTextTrace(3 * seed)},
          {"b", testing::RandomTextTrace(3 * seed + 1)},
          {"c", testing::RandomTextTrace(3 * seed + 2)}};
}

Csv Report(const std::map<std::string, std::string>& traces, std::vector<std::string> args,
           const std::vector<std::string>& files) {
  args.emplace_back("--format=csv");
  args.insert(args.end(), files.begin(), files.end());
  const testing::RunResult run = RunPost(args, traces);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return ParseCsv(run.out);
}

std::vector<CsvRow> Sorted(const Csv& csv) {
  std::vector<CsvRow> rows = csv.rows;
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Sums by name of the columns that are sums.
const CsvRow kSums = {"calls",      "base",      "cum",        "cum2",    "elapsed",
                      "base_ticks", "cum_ticks", "cum2_ticks", "samples", "calls_jitted"};
using Totals = std::map<std::string, std::array<uint64_t, 10>>;

void AddTo(Totals& totals, const Csv& csv) {
  const std::vector<CsvRow> names = csv.Project({"name"});
  const std::vector<CsvRow> values = csv.Project(kSums);
  for (size_t row = 0; row < names.size(); ++row) {
    auto& total = totals[names[row][0]];
    for (size_t i = 0; i < kSums.size(); ++i) {
      total[i] += static_cast<uint64_t>(std::stoll(values[row][i]));
    }
  }
}

TEST(MergeTest, TheOrderOfTracesDoesNotMatter) {
  for (uint64_t seed = 0; seed < kTriples; ++seed) {
    const auto traces = Triple(seed);
    for (const char* report : {"--report=flat", "--report=arcflow", "--report=functions",
                               "--report=modules", "--report=paths", "--report=graph"}) {
      const std::vector<CsvRow> first = Sorted(Report(traces, {report}, kFiles));
      for (const auto& files :
           {std::vector<std::string>{"c", "a", "b"}, std::vector<std::string>{"b", "c", "a"},
            std::vector<std::string>{"c", "b", "a"}}) {
        ASSERT_EQ(Sorted(Report(traces, {report}, files)), first) << report << " seed " << seed;
      }
    }
  }
}

TEST(MergeTest, TracesTogetherAreTheSumOfEach) {
  for (uint64_t seed = 0; seed < kTriples; ++seed) {
    const auto traces = Triple(seed);
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"--report=flat"},
          std::vector<std::string>{"--report=flat", "--scope=app"},
          std::vector<std::string>{"--report=flat", "--merge=none"}}) {
      Totals sum;
      for (const std::string& file : kFiles) AddTo(sum, Report(traces, args, {file}));
      Totals together;
      AddTo(together, Report(traces, args, kFiles));
      ASSERT_EQ(together, sum) << "seed " << seed;
    }
  }
}

// One tree for each process: the same routines with the same sums; only roots differ.
TEST(MergeTest, ProcessesAddUpLikeThreads) {
  for (uint64_t seed = 0; seed < kTriples; ++seed) {
    const auto traces = Triple(seed);
    const auto ticks = [&](const std::vector<std::string>& args) {
      uint64_t all = 0;
      for (const CsvRow& row : Report(traces, args, kFiles).Project({"base_ticks"})) {
        all += static_cast<uint64_t>(std::stoll(row[0]));
      }
      return all;
    };
    ASSERT_EQ(ticks({"--report=tree", "--aggregate=process"}), ticks({"--report=tree"}));
    const Csv tree = Report(traces, {"--report=tree", "--aggregate=process"}, kFiles);
    size_t roots = 0;
    for (const CsvRow& row : tree.Project({"level"})) roots += row[0] == "0" ? 1 : 0;
    ASSERT_LE(roots, 3u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace jtrace
