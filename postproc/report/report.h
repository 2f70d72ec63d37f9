// What a report is made from, and the list of reports. One file a report; each makes a table (for
// CSV, and for JSON) and may write its text in a form of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/class_log.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/jit_log.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/graph/arc_width.h"
#include "postproc/import_stats.h"
#include "postproc/model/trace_model.h"
#include "postproc/page/timeline.h"
#include "postproc/reader/record_counts.h"
#include "postproc/report/record_writer.h"
#include "postproc/report/table.h"
#include "postproc/samples/sample_log.h"
#include "postproc/samples/wait_log.h"

namespace jtrace::postproc {

struct ReportOptions {
  int width = 120;            // 0: no limit
  std::string sort;           // a column; empty: the report's own order
  int64_t top = 0;            // rows; 0: all
  double filter_percent = 0;  // rows below that share of the whole are left out
  bool filter_given = false;  // graph, dot: by default as many functions as one can look at
  ArcWidths widths = ArcWidths::kAdaptive;  // graph, dot
  std::string of;                           // callees, callers
  std::string root;                         // virtual root
  std::string metric;
  bool counted_only = false;  // arcflow: stanzas of routines that events counted
};

// Everything behind the pipeline's last stage; all references outlive the report.
struct ReportInput {
  TraceModel& model;
  const CallTree& tree;
  const std::vector<NodeTotals>& totals;
  const FlatProfile& flat;
  const ArcFlow& arcs;
  const std::vector<ThreadSummary>& threads;
  const MergeStats& merge;
  const SampleLog& samples;
  const RecordCounts& records;
  const JitLog& jit;
  const WaitLog& waits;
  const Timeline& timeline;
  const ClassLog& classes;
  const ImportStats& stats;
  int64_t first_time = 0;
  int64_t last_time = 0;
  const ReportOptions& options;

  Units units() const { return {model.unit(), model.interval_ns()}; }
  TextLayout layout() const { return {options.width, units()}; }
};

// What a trace's heat is measured in: ticks if it has samples, else time, else calls.
enum class Heat { kTicks, kTime, kCalls };
Heat HeatOf(const ReportInput& input);
// A node's inclusive heat by node (index is NodeId.value - 1), and the whole.
struct HeatMap {
  Heat unit = Heat::kCalls;
  std::vector<int64_t> inclusive;
  std::vector<int64_t> exclusive;
  int64_t whole = 0;
};
HeatMap ComputeHeat(const ReportInput& input);
std::string FormatHeat(const ReportInput& input, Heat unit, int64_t value);

struct Report {
  std::string_view name;
  std::string_view description;
  Table (*table)(const ReportInput& input);
  // Null: the table as aligned text.
  void (*text)(const ReportInput& input, std::ostream& out);
  bool needs_of = false;  // --of=ROUTINE must be given
  std::string_view example;
  // A file in a form of its own, beside which there is no table: exports, pictures. --format is not
  // for it.
  void (*document)(const ReportInput& input, std::ostream& out) = nullptr;
  // In place of all of these: written while the trace is read (dump, timelines).
  std::unique_ptr<RecordWriter> (*stream)(const TraceModel& model, const ReportOptions& options,
                                          std::ostream& out) = nullptr;

  // Has a form of its own, that is no table.
  bool is_file() const { return document != nullptr || stream != nullptr; }
};

absl::Span<const Report> AllReports();
const Report* FindReport(std::string_view name);

// --sort and --top on a finished table. A text column is sorted ascending, others descending.
// False if there is no such column.
bool SortRows(Table& table, std::string_view column);
void LimitRows(Table& table, int64_t top);

// The reports' tables and texts, each in the file of its name.
Table SummaryTable(const ReportInput& input);
void SummaryText(const ReportInput& input, std::ostream& out);
Table TreeTable(const ReportInput& input);
void TreeText(const ReportInput& input, std::ostream& out);
Table FlatTable(const ReportInput& input);
void FlatText(const ReportInput& input, std::ostream& out);
Table ArcFlowTable(const ReportInput& input);
void ArcFlowText(const ReportInput& input, std::ostream& out);
Table FunctionsTable(const ReportInput& input);
Table ModulesTable(const ReportInput& input);
Table SamplesTable(const ReportInput& input);
Table PathsTable(const ReportInput& input);
void PathsText(const ReportInput& input, std::ostream& out);
Table CalleesTable(const ReportInput& input);
Table CallersTable(const ReportInput& input);
Table FunctionTable(const ReportInput& input);
void FunctionText(const ReportInput& input, std::ostream& out);
Table ClassesTable(const ReportInput& input);
Table NeverTable(const ReportInput& input);
void NeverText(const ReportInput& input, std::ostream& out);
Table ThreadsTable(const ReportInput& input);
Table MetricsTable(const ReportInput& input);
Table WaitsTable(const ReportInput& input);
Table JitTable(const ReportInput& input);
void JitReportText(const ReportInput& input, std::ostream& out);

// What jtrace-post prints with no option: summary, hottest tree, flat list, arc flow.
void OverviewText(const ReportInput& input, std::ostream& out);

}  // namespace jtrace::postproc
