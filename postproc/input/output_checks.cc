#include "postproc/input/output_checks.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "common/nearest.h"
#include "postproc/report/column_names.h"
#include "postproc/report/tree_view.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

absl::Status CheckSort(const CommandLine& line) {
  const std::string& sort = line.report.sort;
  if (!sort.empty() && line.reports == std::vector<std::string>{"arcflow"}) {
    return absl::InvalidArgumentError(
        "--sort: arcflow has one order, by total; --report=flat can be sorted");
  }
  const bool for_tree = line.reports.empty() || std::find(line.reports.begin(), line.reports.end(),
                                                          "tree") != line.reports.end();
  const std::vector<std::string> names = TreeColumns(line.report.metric);
  if (sort.empty() || !for_tree || std::find(names.begin(), names.end(), sort) != names.end()) {
    return absl::OkStatus();
  }
  const std::vector<std::string_view> columns(names.begin(), names.end());
  return absl::InvalidArgumentError(
      StrCat("--sort: the tree has no column '", sort, "'; nearest: ", Nearest(sort, columns)));
}

absl::Status CheckColumn(std::string_view sort, std::string_view report, const Table& table,
                         const Measure& measure) {
  if (sort == "first" || !ColumnNamed(sort, table, measure).empty()) return absl::OkStatus();
  const std::vector<std::string> all = SortNames(table, measure);
  const std::vector<std::string_view> names(all.begin(), all.end());
  return UsageError(absl::InvalidArgumentError(
      StrCat("--sort: ", report, " has no column '", sort, "'; nearest: ", Nearest(sort, names))));
}

// Reports of other things than the call tree: single samples, records, lines.
absl::Status CheckOutside(const CommandLine& line) {
  const bool folds = line.report.folded_kinds != 0;
  if (!line.report.outside_in_caller && !folds) return absl::OkStatus();
  const std::string_view option = line.report.outside_in_caller ? "--outside: " : "--fold: ";
  constexpr std::string_view kNotOfTheTree[] = {
      "functions", "modules", "samples", "waits",     "hooks",    "never", "lines", "coverage",
      "source",    "lcov",    "jacoco",  "cobertura", "perfetto", "jfr",   "dump"};
  constexpr std::string_view kOfSamples[] = {"paths", "callees", "callers"};
  const auto has = [](absl::Span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& report : line.reports) {
    const bool is_sampled = has(kOfSamples, report) && line.report.metric.empty();
    if (!is_sampled && !has(kNotOfTheTree, report)) continue;
    return absl::InvalidArgumentError(
        StrCat(option, report, " is not about the call tree; tree, flat, arcflow and graph are",
               is_sampled ? ", and this one with --metric=" : ""));
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(const CommandLine& line) {
  if (line.output.empty()) return absl::OkStatus();
  for (const std::string& trace : line.traces) {
    std::error_code none;
    if (std::filesystem::equivalent(trace, line.output, none)) {
      return absl::InvalidArgumentError(
          StrCat("-o ", line.output, " would overwrite the trace; choose another file"));
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
