#include "postproc/input/option_checks.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/nearest.h"
#include "postproc/diff/fail_rule.h"
#include "postproc/input/all_reports.h"
#include "postproc/report/tree_view.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using Given = bool (*)(const CommandLine& line);

// Each report must honour it. The reason follows the report's name in the error; `of_lines` is that
// of reports about counts of lines, empty: as for others.
struct OptionOfEach {
  uint32_t accepted;  // the bit of Report::accepts
  std::string_view name;
  Given is_given;
  std::string_view reason;
  std::string_view of_lines;
};
constexpr OptionOfEach kOfEach[] = {
    {kAcceptsMetric, "--metric", [](const CommandLine& it) { return !it.report.metric.empty(); },
     " does not use it; --report=flat has metrics by routine",
     " does not use it; --report=source and flat have metrics"},
    {kAcceptsFilter, "--filter", [](const CommandLine& it) { return it.report.filter_percent > 0; },
     " does not use it; --report=flat can be filtered",
     " does not use it; --of names classes or methods"},
    {kAcceptsTop, "--top", [](const CommandLine& it) { return it.report.top > 0; },
     " does not use it; --report=flat has rows to count",
     " does not use it; --of names classes or methods"},
    {kAcceptsSort, "--sort", [](const CommandLine& it) { return !it.report.sort.empty(); },
     " does not use it; --report=flat can be sorted",
     " does not use it; --report=lines can be sorted"},
    {kAcceptsThread, "--thread", [](const CommandLine& it) { return !it.thread.empty(); },
     " is about all threads", " does not use it; lines are counted over all threads"},
    {kAcceptsThread, "--with-label", [](const CommandLine& it) { return !it.with_labels.empty(); },
     " is about all threads", " does not use it; only samples have labels"},
    {kAcceptsRoot, "--root", [](const CommandLine& it) { return !it.report.root.empty(); },
     " is about all records; tree, flat, arcflow, graph take a root",
     " does not use it; --of names classes or methods"},
    {kAcceptsScope, "--scope=app", [](const CommandLine& it) { return it.scope == Scope::kApp; },
     " are also about code of others; leave that option out", ""},
    {kAcceptsFold, "--outside", [](const CommandLine& it) { return it.report.outside_in_caller; },
     " is not about the call tree; tree, flat, arcflow and graph are", ""},
    {kAcceptsFold, "--fold", [](const CommandLine& it) { return it.report.folded_kinds != 0; },
     " is not about the call tree; tree, flat, arcflow and graph are", ""},
};

// One of the reports must honour it. `needs` follows the name; empty: the reports that do.
struct OptionOfAny {
  uint32_t accepted;
  std::string_view name;
  Given is_given;
  std::string_view needs;
};
constexpr OptionOfAny kOfAny[] = {
    {kAcceptsLabel, "--label", [](const CommandLine& it) { return it.labels_given; },
     " needs --report=parquet, otlp or pprof"},
    {kAcceptsWidthBy, "--width-by", [](const CommandLine& it) { return it.report.widths_by_self; },
     ""},
    {kAcceptsBy, "--by", [](const CommandLine& it) { return it.by_given; }, ""},
    {kAcceptsBlocks, "--blocks", [](const CommandLine& it) { return it.report.blocks; }, ""},
    {kAcceptsBytecode, "--bytecode", [](const CommandLine& it) { return it.report.bytecode; }, ""},
    {kAcceptsSource, "--source", [](const CommandLine& it) { return !it.report.sources.empty(); },
     ""},
    {kAcceptsClasses, "--classes",
     [](const CommandLine& it) { return !it.report.classes.empty() && it.fail_rules.empty(); },
     " needs --report=never, classes, html, or one about lines, such as coverage"},
    // The overview has a tree.
    {kAcceptsSites, "--sites",
     [](const CommandLine& it) { return it.sites.has_value() && !it.reports.empty(); },
     " needs a report that shows call sites, such as tree, arcflow, function or html"},
};

// The tree and the arc flow leave the order of other reports to these.
bool Honours(const Report& report, const OptionOfEach& option, const CommandLine& line) {
  if (report.Accepts(option.accepted)) return true;
  if (option.accepted == kAcceptsSort && report.sorts_itself) return line.reports.size() > 1;
  return option.accepted == kAcceptsFold && report.Accepts(kAcceptsFoldOfMetric) &&
         !line.report.metric.empty();
}

std::string ReasonOf(const Report& report, const OptionOfEach& option) {
  for (const Instead& instead : report.instead) {
    if (instead.option == option.accepted) return StrCat(" does not use it; ", instead.text);
  }
  if (option.accepted == kAcceptsSort && report.sorts_itself) {
    return " has one order, by total; --report=flat can be sorted";
  }
  if (option.accepted == kAcceptsFold && report.Accepts(kAcceptsFoldOfMetric)) {
    return StrCat(option.reason, ", and this one with --metric=");
  }
  const bool of_lines = report.Needs(kNeedsLines) && !option.of_lines.empty();
  return std::string(of_lines ? option.of_lines : option.reason);
}

absl::Status CheckOfEach(const CommandLine& line) {
  for (const std::string& name : line.reports) {
    const Report& report = *FindReport(name);
    for (const OptionOfEach& option : kOfEach) {
      if (!option.is_given(line) || Honours(report, option, line)) continue;
      return absl::InvalidArgumentError(StrCat(option.name, ": ", name, ReasonOf(report, option)));
    }
  }
  return absl::OkStatus();
}

// " needs --report=source, html or lcov"
std::string ReportsThatAccept(uint32_t option) {
  std::vector<std::string_view> names;
  for (const Report* report : AllReports()) {
    if (report->Accepts(option)) names.push_back(report->name);
  }
  const std::string_view last = names.back();
  names.pop_back();
  return StrCat(" needs --report=", Join(names, ", "), names.empty() ? "" : " or ", last);
}

absl::Status CheckOfAny(const CommandLine& line) {
  for (const OptionOfAny& option : kOfAny) {
    const bool is_honoured = std::any_of(
        line.reports.begin(), line.reports.end(),
        [&](const std::string& name) { return FindReport(name)->Accepts(option.accepted); });
    if (!option.is_given(line) || is_honoured) continue;
    const std::string needs =
        option.needs.empty() ? ReportsThatAccept(option.accepted) : std::string(option.needs);
    return absl::InvalidArgumentError(StrCat(option.name, needs));
  }
  return absl::OkStatus();
}

bool IsRequested(const CommandLine& line, std::string_view report) {
  return std::find(line.reports.begin(), line.reports.end(), report) != line.reports.end();
}

// --sort: other reports know their columns when they are made.
absl::Status CheckTreeOrder(const CommandLine& line) {
  const std::string& sort = line.report.sort;
  if (sort.empty() || (!line.reports.empty() && !IsRequested(line, "tree"))) {
    return absl::OkStatus();
  }
  const std::vector<std::string> names = TreeColumns(line.report.metric);
  if (std::find(names.begin(), names.end(), sort) != names.end()) return absl::OkStatus();
  const std::vector<std::string_view> columns(names.begin(), names.end());
  return absl::InvalidArgumentError(
      StrCat("--sort: the tree has no column '", sort, "'; nearest: ", Nearest(sort, columns)));
}

// Coverage is of one trace; the other rules compare two.
absl::Status CheckRules(const CommandLine& line) {
  const bool is_diff = ComparesTraces(line);
  const Report* first = line.reports.empty() ? nullptr : FindReport(line.reports.front());
  for (const FailRule& rule : line.fail_rules) {
    if (rule.what == FailRule::What::kMetric && line.report.metric.empty()) {
      return absl::InvalidArgumentError(StrCat("--fail-on=", rule.text, " needs --metric=M"));
    }
  }
  for (const FailRule& rule : line.fail_rules) {
    if (!is_diff && !IsCoverageRule(rule)) {
      return absl::InvalidArgumentError("--fail-on needs --report=diff BEFORE AFTER");
    }
    if (first != nullptr && first->stream != nullptr) {
      return absl::InvalidArgumentError(
          StrCat("--fail-on: ", first->name, " computes no coverage; --report=coverage does"));
    }
  }
  return absl::OkStatus();
}

// Rules for a report with others, its options and the traces.
absl::Status CheckReport(const Report& report, const CommandLine& line) {
  const ReportOptions& chosen = line.report;
  if (report.Needs(kNeedsOf) && chosen.of.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--report=", report.name, " needs --of=ROUTINE, e.g. ", report.example));
  }
  if (report.is_file() && line.reports.size() > 1 && !IsDiffPage(line)) {
    return absl::InvalidArgumentError(StrCat(
        "--report=", report.name, " is one file by itself: request no other report with it"));
  }
  if (report.stream != nullptr &&
      (chosen.top > 0 || chosen.filter_given || !chosen.metric.empty())) {
    return absl::InvalidArgumentError(StrCat(
        "--report=", report.name, " has every record: --filter, --top and --metric do not apply"));
  }
  const bool is_alone = line.reports.size() == 1 || IsDiffPage(line);
  if (report.group == ReportGroup::kComparisons && (!is_alone || line.traces.size() != 2)) {
    return absl::InvalidArgumentError(
        StrCat("--report=", report.name, " takes two traces, before and after, and no other report",
               report.name == "diff" ? " but html" : ""));
  }
  if (report.name == "dump" && line.traces.size() > 1) {
    return absl::InvalidArgumentError("--report=dump takes one trace");
  }
  return absl::OkStatus();
}

absl::Status CheckFormat(const CommandLine& line) {
  if (line.guards_formulas && line.format != Format::kCsv) {
    return absl::InvalidArgumentError("--spreadsheet needs --format=csv: add that option");
  }
  for (const std::string& name : line.reports) {
    if (absl::Status status = CheckReport(*FindReport(name), line); !status.ok()) return status;
  }
  if (line.format == Format::kText) return absl::OkStatus();
  if (line.reports == std::vector<std::string>{"markdown"}) {
    return absl::InvalidArgumentError(
        "--format: markdown has one form; --report=diff has rows and columns");
  }
  if (IsDiffPage(line)) {
    return absl::InvalidArgumentError(
        "--format: diff,html is a page; --report=diff has rows and columns");
  }
  return absl::OkStatus();
}

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

// --report=parquet: the tables have all records of whole traces, so that runs can be added up.
absl::Status CheckTables(const CommandLine& line) {
  if (!WritesTables(line)) return absl::OkStatus();
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

absl::Status CheckSites(const CommandLine& line) {
  const bool needs_places =
      std::any_of(line.reports.begin(), line.reports.end(),
                  [](const std::string& name) { return FindReport(name)->Needs(kNeedsPlaces); });
  if (line.sites != false || !needs_places) return absl::OkStatus();
  return absl::InvalidArgumentError("--sites=off: leaves nothing of --report=sites; use flat");
}

}  // namespace

absl::Status CheckTogether(const CommandLine& line) {
  if (line.traces.empty()) {
    return absl::InvalidArgumentError("no trace given: jtrace-post [options] TRACE… (see --help)");
  }
  for (const auto check : {CheckFormat, CheckTables, CheckOfEach, CheckOfAny, CheckSites,
                           CheckTreeOrder, CheckRules}) {
    if (absl::Status status = check(line); !status.ok()) return status;
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
