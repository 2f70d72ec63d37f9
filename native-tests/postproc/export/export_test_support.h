// The reference for exports: the tree report.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/export_readers.h"
#include "native-tests/support/run_post.h"

namespace jtrace::testing {

inline std::string Export(const std::string& trace, const std::string& format,
                          std::vector<std::string> args = {}) {
  args.push_back("--report=" + format);
  args.emplace_back("trace");
  const RunResult result = RunPost(args, {{"trace", trace}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

// A row of the tree report.
struct TreeNodeRow {
  std::vector<std::string> path;  // the thread's name first
  bool is_thread = false;
  int64_t recursion_level = 1;
  std::map<std::string, int64_t> values;  // by column
};

// The tree report, row by row; `calls` of threads are 0.
inline std::vector<TreeNodeRow> TreeRows(const std::string& trace,
                                         std::vector<std::string> args = {}) {
  // The calls of all lines together.
  args.insert(args.begin(), {"--report=tree", "--sites=off"});
  const std::vector<std::string> columns = {"level", "origin",     "name", "rl",        "calls",
                                            "base",  "base_ticks", "cum",  "cum_ticks", "elapsed"};
  std::vector<TreeNodeRow> rows;
  std::vector<std::string> path;
  for (const CsvRow& cells : ParseCsv(ReportCsv(trace, std::move(args))).Project(columns)) {
    TreeNodeRow row;
    path.resize(std::stoull(cells[0]));
    path.push_back(cells[2]);
    row.path = path;
    row.is_thread = cells[1] == "thread";
    row.recursion_level = std::stoll(cells[3]);
    for (size_t i = 4; i < columns.size(); ++i) row.values[columns[i]] = std::stoll(cells[i]);
    if (row.is_thread) row.values["calls"] = 0;
    rows.push_back(row);
  }
  return rows;
}

// The values of a column that a format shows: those above 0, or all but 0.
inline PathValues TreeValues(const std::vector<TreeNodeRow>& rows, const std::string& column,
                             int64_t factor = 1) {
  PathValues values;
  for (const TreeNodeRow& row : rows) {
    if (row.values.at(column) != 0) values[row.path] += row.values.at(column) * factor;
  }
  return values;
}

inline std::map<std::string, int64_t> SumByThread(const PathValues& values) {
  std::map<std::string, int64_t> sums;
  for (const auto& [path, value] : values) sums[path[0]] += value;
  // Values that cancel out may be missing.
  std::erase_if(sums, [](const auto& it) { return it.second == 0; });
  return sums;
}

}  // namespace jtrace::testing
