#include "postproc/input/table_output.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// The first option that selects records or shapes a report; empty: none.
std::string_view Selecting(const CommandLine& line) {
  const ReportOptions& report = line.report;
  const std::pair<bool, std::string_view> given[] = {{line.format != Format::kText, "--format"},
                                                     {!line.thread.empty(), "--thread"},
                                                     {!line.with_labels.empty(), "--with-label"},
                                                     {line.scope != Scope::kFull, "--scope"},
                                                     {line.merge != MergeMode::kChain, "--merge"},
                                                     {line.aggregate.has_value(), "--aggregate"},
                                                     {line.raw_names, "--raw-names"},
                                                     {line.sites.has_value(), "--sites"},
                                                     {!report.sort.empty(), "--sort"},
                                                     {report.top > 0, "--top"},
                                                     {report.filter_given, "--filter"},
                                                     {!report.of.empty(), "--of"},
                                                     {!report.root.empty(), "--root"},
                                                     {!report.metric.empty(), "--metric"},
                                                     {report.outside_in_caller, "--outside"},
                                                     {report.folded_kinds != 0, "--fold"},
                                                     {!line.fail_rules.empty(), "--fail-on"}};
  for (const auto& [is_given, option] : given) {
    if (is_given) return option;
  }
  return {};
}

}  // namespace

absl::Status CheckTables(const CommandLine& line) {
  if (!WritesTables(line)) {
    const bool takes_labels = line.reports == std::vector<std::string>{"otlp"} ||
                              line.reports == std::vector<std::string>{"pprof"};
    if (!line.labels_given || takes_labels) return absl::OkStatus();
    return absl::InvalidArgumentError("--label needs --report=parquet, otlp or pprof");
  }
  if (line.reports.size() > 1) {
    return absl::InvalidArgumentError(
        "--report=parquet is a folder by itself: request no other report with it");
  }
  if (line.output.empty()) {
    return absl::InvalidArgumentError(
        "--report=parquet needs a folder: -o data (made if it is not there)");
  }
  std::error_code none;
  if (std::filesystem::exists(line.output, none) &&
      !std::filesystem::is_directory(line.output, none)) {
    return absl::InvalidArgumentError(
        StrCat("-o ", line.output, " is a file; --report=parquet writes a folder: name another"));
  }
  if (const std::string_view option = Selecting(line); !option.empty()) {
    return absl::InvalidArgumentError(
        StrCat(option, ": the tables of --report=parquet have whole traces; leave it out"));
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
