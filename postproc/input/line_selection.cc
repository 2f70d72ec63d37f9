#include "postproc/input/line_selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/nearest.h"
#include "postproc/input/all_reports.h"
#include "postproc/lines/path_costs.h"
#include "postproc/lines/selected_methods.h"
#include "postproc/model/frame_name.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

bool NeedsLines(const std::string& name) {
  const Report* report = FindReport(name);
  return report != nullptr && report->needs_lines;
}

absl::Status Refuse(std::string_view option, std::string_view report, std::string_view why) {
  return absl::InvalidArgumentError(StrCat(option, ": ", report, " does not use it; ", why));
}

// Of one report about lines.
absl::Status CheckNarrowing(const std::string& name, const CommandLine& line) {
  const ReportOptions& report = line.report;
  const bool is_table = name == "lines" || name == "coverage";
  if (!line.thread.empty()) return Refuse("--thread", name, "lines are counted over all threads");
  if (!line.with_labels.empty()) return Refuse("--with-label", name, "only samples have labels");
  if (!report.root.empty()) return Refuse("--root", name, "--of names classes or methods");
  if (!report.metric.empty() && name != "source") {
    return Refuse("--metric", name, "--report=source and flat have metrics");
  }
  if (report.filter_percent > 0 && name != "lines") {
    return Refuse("--filter", name, "--of names classes or methods");
  }
  if (!report.sort.empty() && !is_table) {
    return Refuse("--sort", name, "--report=lines can be sorted");
  }
  if (report.top > 0 && !is_table && name != "source") {
    return Refuse("--top", name, "--of names classes or methods");
  }
  return absl::OkStatus();
}

// The class or method that is nearest to `pattern`.
std::string NearestName(std::string_view pattern, const LineProfile& lines) {
  std::vector<std::string> names;
  for (const MethodLines& method : lines.methods) {
    if (names.empty() || names.back() != method.class_name) names.push_back(method.class_name);
    const std::string name = FullName(method);
    names.emplace_back(WithoutParameters(name));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(Nearest(pattern, views));
}

}  // namespace

bool IsAboutLines(const CommandLine& line) {
  return !line.reports.empty() && std::all_of(line.reports.begin(), line.reports.end(), NeedsLines);
}

absl::Status CheckLineOptions(const CommandLine& line) {
  const auto has = [&](std::string_view name) {
    return std::find(line.reports.begin(), line.reports.end(), name) != line.reports.end();
  };
  const ReportOptions& report = line.report;
  const bool uses_sources = has("source") || has("html") || has("lcov") || has("cobertura");
  if (line.by_given && !has("coverage")) {
    return absl::InvalidArgumentError("--by needs --report=coverage");
  }
  if (report.blocks && !has("source")) {
    return absl::InvalidArgumentError("--blocks needs --report=source");
  }
  if (report.bytecode && !has("source")) {
    return absl::InvalidArgumentError("--bytecode needs --report=source");
  }
  if (!report.sources.empty() && !uses_sources) {
    return absl::InvalidArgumentError("--source needs --report=source, html, lcov or cobertura");
  }
  const bool uses_classes = has("never") || has("html") || has("classes") ||
                            !line.fail_rules.empty() ||
                            std::any_of(line.reports.begin(), line.reports.end(), NeedsLines);
  if (!report.classes.empty() && !uses_classes) {
    return absl::InvalidArgumentError(
        "--classes needs --report=never, classes, html, or one about lines, such as coverage");
  }
  for (const std::string& name : line.reports) {
    if (!NeedsLines(name)) continue;
    if (absl::Status status = CheckNarrowing(name, line); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckCosts(const CommandLine& line, BlocksCounted counted) {
  if (!IsCostMetric(line.report.metric) || counted == BlocksCounted::kByPath) {
    return absl::OkStatus();
  }
  if (IsAboutLines(line)) return absl::OkStatus();  // each line has its own
  const std::string option = StrCat("--metric=", line.report.metric);
  if (counted == BlocksCounted::kNot) {
    return UsageError(absl::FailedPreconditionError(StrCat(
        option, ": the trace has no counts of blocks; record with blocks=paths, or blocks=on")));
  }
  if (counted == BlocksCounted::kBoth) {
    return UsageError(absl::FailedPreconditionError(
        StrCat(option,
               ": one trace has counts by call path and another has not; record all of them "
               "with blocks=paths")));
  }
  // Reports about methods, whoever calls them.
  constexpr std::string_view kByMethod[] = {"flat", "metrics",  "classes",
                                            "diff", "markdown", "summary"};
  std::string_view needs = line.reports.empty() ? std::string_view("tree") : std::string_view();
  for (const std::string& name : line.reports) {
    if (!IsOneOf(name, kByMethod)) needs = name;
  }
  if (!line.thread.empty()) needs = "--thread";
  if (!line.with_labels.empty()) needs = "--with-label";
  if (!line.report.root.empty()) needs = "--root";
  if (needs.empty()) return absl::OkStatus();
  return UsageError(absl::FailedPreconditionError(
      StrCat(option, ": ", needs, " needs counts by call path; record with blocks=paths")));
}

absl::Status CheckLines(const CommandLine& line, const LineProfile& lines) {
  if (std::none_of(line.reports.begin(), line.reports.end(), NeedsLines)) return absl::OkStatus();
  if (lines.empty()) return absl::FailedPreconditionError(StrCat(kNoLines));
  if (!SelectMethods(lines, line.report.of).empty()) return absl::OkStatus();
  return UsageError(absl::NotFoundError(
      StrCat("--of: no class or method '", line.report.of,
             "' has counts of lines; nearest: ", NearestName(line.report.of, lines))));
}

}  // namespace jtrace::postproc
