// Random traces: each format's reader gets the values of the tree report, path by path.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "native-tests/postproc/export/export_test_support.h"
#include "native-tests/support/random_trace.h"

namespace jtrace {
namespace {

using testing::CallgrindFile;
using testing::PathValues;
using testing::PprofFile;
using testing::SumByThread;
using testing::TreeNodeRow;
using testing::TreeRows;
using testing::TreeValues;

constexpr uint64_t kTraces = 150;

// The calls of all lines together; sites_property_test has those of each.
std::string Export(const std::string& trace, const std::string& format,
                   std::vector<std::string> args = {}) {
  args.emplace_back("--sites=off");
  return testing::Export(trace, format, std::move(args));
}

// Half of them text, half of them binary.
std::string RandomTrace(uint64_t seed) {
  return seed % 2 == 0 ? testing::RandomTextTrace(seed) : testing::RandomBinaryTrace(seed);
}

// --metric and the tree report's column.
struct Kind {
  std::string metric;
  std::string column;
};
const std::vector<Kind> kKinds = {{"calls", "calls"}, {"ticks", "base_ticks"}, {"time", "base"}};

// False if --metric would be rejected: no node has it.
bool Has(const std::vector<TreeNodeRow>& rows, const Kind& kind) {
  return !TreeValues(rows, kind.column).empty();
}

TEST(ExportPropertyTest, StacksAreThePathsOfTheTree) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = RandomTrace(seed);
    const std::vector<TreeNodeRow> rows = TreeRows(trace);
    for (const Kind& kind : kKinds) {
      if (!Has(rows, kind)) continue;
      const std::string metric = "--metric=" + kind.metric;
      const PathValues tree = TreeValues(rows, kind.column);
      ASSERT_EQ(testing::ParseCollapsed(Export(trace, "collapsed", {metric})), tree) << seed;
      const testing::SpeedscopeFile speedscope =
          testing::ParseSpeedscope(Export(trace, "speedscope", {metric}));
      ASSERT_EQ(speedscope.values, tree) << seed;
      ASSERT_EQ(speedscope.wrong_ends, 0) << seed;
    }
  }
}

TEST(ExportPropertyTest, PprofHasEveryValueOfTheTree) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = RandomTrace(seed);
    const PprofFile profile = testing::ParsePprof(Export(trace, "pprof"));
    const std::vector<TreeNodeRow> rows = TreeRows(trace);
    ASSERT_EQ(profile.mistakes, std::vector<std::string>()) << seed;
    for (const Kind& kind : kKinds) {
      const std::string type = kind.metric == "ticks" ? "samples" : kind.metric;
      const auto found = profile.values.find(type);
      const PathValues values = found == profile.values.end() ? PathValues() : found->second;
      ASSERT_EQ(values, TreeValues(rows, kind.column)) << seed << " " << type;
    }
  }
}

TEST(ExportPropertyTest, OtlpHasEveryValueOfTheTree) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = RandomTrace(seed);
    const testing::OtlpFile file = testing::ParseOtlp(Export(trace, "otlp"));
    const std::vector<TreeNodeRow> rows = TreeRows(trace);
    ASSERT_EQ(file.mistakes, std::vector<std::string>()) << seed;
    for (const Kind& kind : kKinds) {
      const std::string type = kind.metric == "ticks" ? "samples" : kind.metric;
      PathValues values;
      for (const testing::OtlpFile::Profile& profile : file.profiles) {
        if (profile.type.first == type) values = profile.values;
      }
      ASSERT_EQ(values, TreeValues(rows, kind.column)) << seed << " " << type;
    }
  }
}

// "file:name'level", as the writer names functions; only the thread's mark distinguishes files, so
// they are left out here.
std::string FunctionName(const TreeNodeRow& row) {
  std::string name = (row.is_thread ? "thread " : "") + row.path.back();
  if (row.recursion_level > 1) name += "'" + std::to_string(row.recursion_level);
  return name;
}
std::string WithoutFile(const std::string& function) {
  const std::string threads = "[threads]:";
  if (function.compare(0, threads.size(), threads) == 0) {
    return "thread " + function.substr(threads.size());
  }
  return function.substr(function.find(':') + 1);
}

using Arcs = std::map<std::pair<std::string, std::string>, std::vector<int64_t>>;

// Calls and inclusive cost by caller and callee.
Arcs ArcsOfTree(const std::vector<TreeNodeRow>& rows, const std::string& inclusive) {
  Arcs arcs;
  std::vector<std::string> path;
  for (const TreeNodeRow& row : rows) {
    path.resize(row.path.size() - 1);
    if (!path.empty()) {
      std::vector<int64_t>& arc = arcs[{path.back(), FunctionName(row)}];
      arc.resize(2);
      arc[0] += row.values.at("calls");
      arc[1] += row.values.at(inclusive);
    }
    path.push_back(FunctionName(row));
  }
  for (auto& [names, arc] : arcs) arc[0] = std::max<int64_t>(arc[0], 1);
  return arcs;
}

Arcs ArcsOfFile(const CallgrindFile& file, int event) {
  Arcs arcs;
  for (const auto& [names, arc] : file.arcs) {
    std::vector<int64_t>& sum = arcs[{WithoutFile(names.first), WithoutFile(names.second)}];
    sum.resize(2);
    sum[0] += arc.calls;
    sum[1] += arc.inclusive[static_cast<size_t>(event)];
  }
  return arcs;
}

TEST(ExportPropertyTest, CallgrindHasTheArcsOfTheTree) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = RandomTrace(seed);
    const std::vector<TreeNodeRow> rows = TreeRows(trace);
    const CallgrindFile file = testing::ParseCallgrind(Export(trace, "callgrind"));
    ASSERT_EQ(file.mistakes, std::vector<std::string>()) << seed;
    ASSERT_EQ(file.summary, file.totals);
    for (const Kind& kind : kKinds) {
      if (!Has(rows, kind)) continue;
      const int event = file.Event(kind.metric);
      ASSERT_GE(event, 0) << seed << " " << kind.metric;
      std::map<std::string, int64_t> self_of_tree;
      std::map<std::string, int64_t> self_of_file;
      int64_t whole = 0;
      for (const TreeNodeRow& row : rows) {
        self_of_tree[FunctionName(row)] += row.values.at(kind.column);
        whole += row.values.at(kind.column);
      }
      for (const auto& [name, costs] : file.self) {
        self_of_file[WithoutFile(name)] += costs[static_cast<size_t>(event)];
      }
      ASSERT_EQ(self_of_file, self_of_tree) << seed << " " << kind.metric;
      ASSERT_EQ(file.totals[static_cast<size_t>(event)], whole) << seed;
    }
    for (const Kind& kind : std::vector<Kind>{{"ticks", "cum_ticks"}, {"time", "cum"}}) {
      if (file.Event(kind.metric) < 0) continue;
      ASSERT_EQ(ArcsOfFile(file, file.Event(kind.metric)), ArcsOfTree(rows, kind.column)) << seed;
    }
  }
}

// Omitted nodes are folded into their callers: each thread keeps its total.
TEST(ExportPropertyTest, FilterAndTopKeepTotals) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = RandomTrace(seed);
    const std::vector<TreeNodeRow> rows = TreeRows(trace);
    for (const std::string option : {"--filter=10", "--top=3"}) {
      for (const Kind& kind : kKinds) {
        if (!Has(rows, kind)) continue;
        const PathValues whole = TreeValues(rows, kind.column);
        const PathValues left = testing::ParseCollapsed(
            Export(trace, "collapsed", {"--metric=" + kind.metric, option}));
        ASSERT_EQ(SumByThread(left), SumByThread(whole)) << seed << option << kind.metric;
        ASSERT_LE(left.size(), whole.size());
      }
      const PprofFile profile = testing::ParsePprof(Export(trace, "pprof", {option}));
      ASSERT_EQ(profile.mistakes, std::vector<std::string>());
      const PprofFile all = testing::ParsePprof(Export(trace, "pprof"));
      for (const auto& [type, values] : all.values) {
        ASSERT_EQ(SumByThread(profile.values.at(type)), SumByThread(values)) << seed << type;
      }
      ASSERT_EQ(testing::ParseCallgrind(Export(trace, "callgrind", {option})).totals,
                testing::ParseCallgrind(Export(trace, "callgrind")).totals);
    }
  }
}

TEST(ExportPropertyTest, OtherSelectionsAreThoseOfTheTree) {
  const std::vector<std::vector<std::string>> selections = {
      {"--aggregate=process"}, {"--merge=embed"}, {"--merge=none"}, {"--scope=app"}};
  for (uint64_t seed = 0; seed < kTraces / 3; ++seed) {
    const std::string trace = testing::RandomTextTrace(seed);
    for (std::vector<std::string> args : selections) {
      const std::vector<TreeNodeRow> rows = TreeRows(trace, args);
      args.emplace_back("--metric=calls");
      if (!Has(rows, kKinds[0])) continue;
      ASSERT_EQ(testing::ParseCollapsed(Export(trace, "collapsed", args)),
                TreeValues(rows, "calls"))
          << seed << args[0];
    }
  }
}

}  // namespace
}  // namespace jtrace
