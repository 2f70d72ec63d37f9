#include "postproc/input/all_reports.h"

#include <algorithm>
#include <iterator>

// In the order of --help. Each stands beside its code.
// clang-format off
#define JTRACE_REPORTS(REPORT) \
  REPORT(kSummaryReport) \
  REPORT(kHeadlineReport) \
  REPORT(kFindingsReport) \
  REPORT(kTreeReport) \
  REPORT(kFlatReport) \
  REPORT(kArcFlowReport) \
  REPORT(kSitesReport) \
  REPORT(kFunctionsReport) \
  REPORT(kModulesReport) \
  REPORT(kSamplesReport) \
  REPORT(kPathsReport) \
  REPORT(kCalleesReport) \
  REPORT(kCallersReport) \
  REPORT(kFunctionReport) \
  REPORT(kClassesReport) \
  REPORT(kNeverReport) \
  REPORT(kLinesReport) \
  REPORT(kCoverageReport) \
  REPORT(kSourceReport) \
  REPORT(kThreadsReport) \
  REPORT(kByThreadReport) \
  REPORT(kMetricsReport) \
  REPORT(kLabelsReport) \
  REPORT(kWaitsReport) \
  REPORT(kWaitedReport) \
  REPORT(kIoReport) \
  REPORT(kSegmentsReport) \
  REPORT(kHooksReport) \
  REPORT(kJitReport) \
  REPORT(kHtmlReport) \
  REPORT(kGraphReport) \
  REPORT(kDotReport) \
  REPORT(kCollapsedReport) \
  REPORT(kPprofReport) \
  REPORT(kOtlpReport) \
  REPORT(kSpeedscopeReport) \
  REPORT(kCallgrindReport) \
  REPORT(kPerfettoReport) \
  REPORT(kJfrReport) \
  REPORT(kLcovReport) \
  REPORT(kJacocoReport) \
  REPORT(kCoberturaReport) \
  REPORT(kDumpReport) \
  REPORT(kDiffReport) \
  REPORT(kMarkdownReport) \
  REPORT(kParquetReport)
// clang-format on

namespace jtrace::postproc {

#define JTRACE_DECLARE(report) extern const Report report;
JTRACE_REPORTS(JTRACE_DECLARE)

// A folder: the tables of a run.
const Report kParquetReport = {
    .name = "parquet",
    .group = ReportGroup::kTools,
    .summary = "a folder of Parquet tables, for the questions of many runs (jtrace fleet)",
    .example = "jtrace-post --report=parquet -o data --label=service=shop trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsLabel,
};

absl::Span<const Report* const> AllReports() {
#define JTRACE_ADDRESS(report) &report,
  static constexpr const Report* kReports[] = {JTRACE_REPORTS(JTRACE_ADDRESS)};
  return kReports;
}

const Report* FindReport(std::string_view name) {
  const auto reports = AllReports();
  const auto found = std::find_if(reports.begin(), reports.end(),
                                  [&](const Report* report) { return report->name == name; });
  return found == reports.end() ? nullptr : *found;
}

}  // namespace jtrace::postproc
