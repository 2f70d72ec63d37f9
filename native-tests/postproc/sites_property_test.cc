// Random traces with the places of calls (S4.4): what is summed up over the places is what
// --sites=off shows.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "native-tests/postproc/export/export_test_support.h"
#include "native-tests/support/path_places.h"
#include "native-tests/support/random_trace.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using testing::PathValues;

constexpr uint64_t kTraces = 150;

std::string PlacedTrace(uint64_t seed) {
  return testing::WithCallPlaces(testing::RandomTextTrace(seed), seed);
}

// By key, the sums of a report's columns. `key` of a row and its site, whose `name` has no site.
using Sums = std::map<CsvRow, std::vector<int64_t>>;
using KeyOf = std::function<CsvRow(const CsvRow& row)>;

// Rows in these columns; `site`, if it is empty or missing, is "", and `name` does not begin with
// it.
std::vector<CsvRow> RowsWithoutSites(const std::string& trace, std::vector<std::string> args,
                                     CsvRow columns) {
  columns.insert(columns.begin(), {"site", "name"});
  std::vector<CsvRow> rows =
      testing::ParseCsv(testing::ReportCsv(trace, std::move(args))).Project(columns);
  for (CsvRow& row : rows) {
    if (row[0] == "<none>") row[0] = "";
    if (!row[0].empty() && row[1] != "<none>") row[1].erase(0, row[0].size() + 3);
  }
  return rows;
}

Sums SumUp(const std::vector<CsvRow>& rows, size_t first, const KeyOf& key) {
  Sums sums;
  for (const CsvRow& row : rows) {
    std::vector<int64_t>& sum = sums[key(row)];
    sum.resize(row.size() - first);
    for (size_t i = first; i < row.size(); ++i) {
      if (!row[i].empty()) sum[i - first] += std::stoll(row[i]);
    }
  }
  return sums;
}

// Of the arc flow: stanza, side and the other routine.
TEST(SitesPropertyTest, ArcsOfAllPlacesAreTheArc) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    const auto arcs = [&](std::vector<std::string> args) {
      args.emplace_back("--report=arcflow");
      const std::vector<CsvRow> rows =
          RowsWithoutSites(trace, std::move(args),
                           {"self", "row", "calls", "base", "cum", "base_ticks", "cum_ticks"});
      return SumUp(rows, 4, [](const CsvRow& row) {
        // In the name of an arc the callee follows the site, and the caller is in it.
        const bool is_caller = row[3] == "parent" || row[3] == "rparent";
        if (row[0].empty() || !is_caller) return CsvRow{row[2], row[3], row[1]};
        return CsvRow{row[2], row[3], row[0].substr(0, row[0].find_last_of(":@"))};
      });
    };
    ASSERT_EQ(arcs({}), arcs({"--sites=off"})) << trace;
  }
}

TEST(SitesPropertyTest, ArcsOfTheGraphAddUp) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    for (const std::string filter : {"--filter=0", "--filter=12"}) {
      const auto arcs = [&](std::vector<std::string> args) {
        args.insert(args.end(), {"--report=graph", filter});
        const std::vector<CsvRow> rows = RowsWithoutSites(
            trace, std::move(args),
            {"caller", "callee", "calls", "calls_collapsed", "total", "total2", "self"});
        return SumUp(rows, 4, [](const CsvRow& row) { return CsvRow{row[2], row[3]}; });
      };
      ASSERT_EQ(arcs({}), arcs({"--sites=off"})) << filter << "\n" << trace;
    }
  }
}

TEST(SitesPropertyTest, CallersAndCalleesOfAFunctionAddUp) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    const auto calls = [&](std::vector<std::string> args) {
      args.insert(args.end(), {"--report=function", "--of=B"});
      const std::vector<CsvRow> rows = RowsWithoutSites(trace, std::move(args), {"row", "calls"});
      return SumUp(rows, 3, [](const CsvRow& row) {
        if (row[0].empty() || row[2] != "caller") return CsvRow{row[2], row[1]};
        return CsvRow{row[2], row[0].substr(0, row[0].find_last_of(":@"))};
      });
    };
    if (testing::ReportCsv(trace, {"--report=function", "--of=B"}).starts_with("exit")) continue;
    ASSERT_EQ(calls({}), calls({"--sites=off"})) << trace;
  }
}

// Of samples, and of the tree's calls.
TEST(SitesPropertyTest, PathsOfAllPlacesAreThePath) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    for (const std::string report : {"paths", "callees", "callers"}) {
      for (const std::vector<std::string>& metric :
           std::vector<std::vector<std::string>>{{}, {"--metric=calls"}}) {
        const auto paths = [&](std::vector<std::string> args) {
          args.insert(args.end(), metric.begin(), metric.end());
          args.insert(args.end(), {"--report=" + report, "--of=B"});
          const std::vector<CsvRow> rows =
              testing::ParseCsv(testing::ReportCsv(trace, std::move(args)))
                  .Project({"path", "exclusive", "inclusive"});
          return SumUp(rows, 1,
                       [&](const CsvRow& row) { return CsvRow{testing::WithoutPlaces(row[0])}; });
        };
        if (testing::ReportCsv(trace, {"--report=callees", "--of=B"}).starts_with("exit")) continue;
        ASSERT_EQ(paths({}), paths({"--sites=off"})) << report << "\n" << trace;
      }
    }
  }
}

// The paths of the tree report, each step but the last with the place from which it calls.
// `with_indexes`: also places that are bytecode indexes.
PathValues PlacedPaths(const std::string& trace, const std::string& column, bool with_indexes) {
  PathValues values;
  std::vector<std::string> names;   // of the current path
  std::vector<std::string> places;  // from which each calls the next one
  for (const CsvRow& row :
       RowsWithoutSites(trace, {"--report=tree"}, {"level", column, "origin"})) {
    const size_t level = std::stoull(row[2]);
    names.resize(level);
    places.resize(level);
    const size_t mark = row[0].find_last_of(":@");
    const bool is_shown = !row[0].empty() && (with_indexes || row[0][mark] == ':');
    if (level > 0) places.back() = is_shown ? row[0].substr(mark) : "";
    names.push_back(row[1]);
    places.emplace_back();
    if (row[3] == "0" || (row[4] == "thread" && column == "calls")) continue;
    std::vector<std::string> path;
    for (size_t i = 0; i < names.size(); ++i) path.push_back(names[i] + places[i]);
    values[path] += std::stoll(row[3]);
  }
  return values;
}

TEST(SitesPropertyTest, StacksHaveTheLineOfEachCaller) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    const PathValues paths = PlacedPaths(trace, "calls", true);
    if (paths.empty()) continue;
    ASSERT_EQ(testing::ParseCollapsed(testing::Export(trace, "collapsed", {"--metric=calls"})),
              paths)
        << trace;
    ASSERT_EQ(
        testing::ParseSpeedscope(testing::Export(trace, "speedscope", {"--metric=calls"})).values,
        paths)
        << trace;
    const testing::PprofFile pprof = testing::ParsePprof(testing::Export(trace, "pprof"));
    ASSERT_EQ(pprof.mistakes, std::vector<std::string>()) << seed;
    ASSERT_EQ(pprof.values_by_line.at("calls"), PlacedPaths(trace, "calls", false)) << trace;
    ASSERT_EQ(pprof.values,
              testing::ParsePprof(testing::Export(trace, "pprof", {"--sites=off"})).values);
  }
}

TEST(SitesPropertyTest, ArcsOfCallgrindAddUp) {
  for (uint64_t seed = 0; seed < kTraces; ++seed) {
    const std::string trace = PlacedTrace(seed);
    const testing::CallgrindFile with =
        testing::ParseCallgrind(testing::Export(trace, "callgrind"));
    const testing::CallgrindFile without =
        testing::ParseCallgrind(testing::Export(trace, "callgrind", {"--sites=off"}));
    ASSERT_EQ(with.mistakes, std::vector<std::string>());
    ASSERT_EQ(with.self, without.self);
    ASSERT_EQ(with.totals, without.totals);
    ASSERT_EQ(with.arcs.size(), without.arcs.size());
    for (const auto& [names, arc] : without.arcs) {
      const testing::CallgrindFile::Arc& sum = with.arcs.at(names);
      ASSERT_EQ(sum.inclusive, arc.inclusive) << seed;
      // An arc that only samples saw shows a call, and so does each of its lines.
      ASSERT_GE(sum.calls, arc.calls) << seed;
    }
  }
}

}  // namespace
}  // namespace jtrace
