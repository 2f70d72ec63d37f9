// The input of reports, and the list of reports. One file for each report; each makes a table (for
// CSV and JSON) and may write its text in a different form.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "postproc/calltree/arc_flow.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/class_log.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/hook_log.h"
#include "postproc/calltree/jit_log.h"
#include "postproc/calltree/measure.h"
#include "postproc/calltree/outside_calls.h"
#include "postproc/calltree/timeline.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/lines/coverage.h"
#include "postproc/lines/line_profile.h"
#include "postproc/lines/line_sources.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/record_counts.h"
#include "postproc/report/arc_width.h"
#include "postproc/report/record_writer.h"
#include "postproc/report/table.h"
#include "postproc/samples/io_log.h"
#include "postproc/samples/sample_log.h"
#include "postproc/samples/segment_log.h"
#include "postproc/samples/wait_log.h"
#include "postproc/samples/waited_log.h"
#include "postproc/source/source_finder.h"

namespace jtrace::postproc {

// The options of the command line that reports use.
struct ReportOptions {
  int width = 120;                     // 0: no limit
  std::string sort;                    // a column; empty: the report's own order
  int64_t top = 0;                     // rows; 0: all
  double filter_percent = 0;           // rows below that share of the whole are left out
  bool filter_given = false;           // graph, dot: by default as many functions as are readable
  ArcWidths widths;                    // graph, dot
  bool widths_by_self = false;         // of the arcs' self, not their total
  std::string of;                      // callees, callers, and reports about lines
  std::string root;                    // virtual root
  std::string metric;                  // empty: ticks, else time, else calls
  bool counted_only = false;           // arcflow: stanzas of routines that events counted
  CoverageBy by = CoverageBy::kLines;  // coverage
  bool wide = false;                   // coverage: methods too; text: all columns, whole names
  uint32_t folded_kinds = 0;           // --fold: a bit for each CodeOwner, in its caller
  bool on_terminal = false;            // text is read on a screen, as it is written
  bool folds_chains = true;            // tree as text: chains of nodes are one line
  bool outside_in_caller = false;      // --outside=caller
  bool blocks = false;                 // source: the counts of each block
  bool bytecode = false;               // source: the instructions of each line
  std::vector<std::string> classes;    // --classes: folders and jars
  std::vector<std::string> sources;    // --source: folders and archives
  std::string costs;                   // --costs: a file; empty: jtrace's own table
  // --label of pprof and otlp: {"service", "shop"}
  std::vector<std::pair<std::string, std::string>> labels;
};

// The results of the pipeline's last stage; all references outlive the report.
struct ReportInput {
  TraceModel& model;
  const CallTree& tree;
  const TreeTotals& totals;
  const Measure& measure;
  const FlatProfile& flat;
  const ArcFlow& arcs;
  const std::vector<ThreadSummary>& threads;
  const MergeStats& merge;
  const SampleLog& samples;
  const RecordCounts& records;
  const JitLog& jit;
  const WaitLog& waits;
  const WaitedLog& waited;
  const IoLog& io;
  const SegmentLog& segments;
  const HookLog& hooks;
  const Timeline& timeline;
  const ClassLog& classes;
  const OutsideCosts& outside;
  const LineProfile& lines;
  const LineSources& line_sources;
  const SourceFinder& sources;
  const ImportStats& stats;
  int64_t first_time = 0;
  int64_t last_time = 0;
  const ReportOptions& options;
  std::vector<std::string>* notes = nullptr;  // gets lines for stderr; null: nobody reads them

  Units units() const { return {model.unit(), model.interval_ns()}; }
  TextLayout layout() const { return {options.width, units()}; }
};

// Whether any method of the thread was counted by events: threads without Java code have hooks'
// calls, too.
bool HasEvents(const ReportInput& input, NodeId root);
// Whether --filter leaves it out.
bool IsFiltered(const ReportInput& input, int64_t part, int64_t whole);
// A value of the report's measure, with its unit.
std::string FormatMeasure(const ReportInput& input, int64_t value);
// " by alloc.bytes" if --metric names it, else "": for headings.
std::string ByMeasure(const ReportInput& input);
// Columns of a chosen measure, after all others: its name and ".base", ".cum", ".cum2". The cells
// are added in that order.
enum class MeasureColumns { kBaseCum, kBaseCumCum2 };
void AddMeasureColumns(const ReportInput& input, MeasureColumns which, Table& table);
void AddMeasureCells(const ReportInput& input, std::initializer_list<std::optional<int64_t>> values,
                     std::vector<Cell>& row);

// Calls out of scope that a routine makes itself: number and time.
void AddOutsideColumns(Table& table);
void AddOutsideCells(const FlatRow& routine, std::vector<Cell>& row);

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a few dozen rows of a table.
struct Report {
  std::string_view name;
  std::string_view description;
  Table (*table)(const ReportInput& input);
  // Null: the table as aligned text.
  void (*text)(const ReportInput& input, std::ostream& out);
  bool needs_of = false;  // --of=ROUTINE must be given
  std::string_view example;
  // A file in a separate format, without a table: exports, pictures. --format does not apply.
  void (*document)(const ReportInput& input, std::ostream& out) = nullptr;
  // Instead of all of these: written while the trace is read (dump, timelines).
  std::unique_ptr<RecordWriter> (*stream)(const TraceModel& model, const ReportOptions& options,
                                          std::ostream& out) = nullptr;
  // About counts of lines: without them it fails.
  bool needs_lines = false;
  // Distinguishes calls by the place in their caller.
  bool shows_sites = false;

  // Has a separate format that is not a table.
  bool is_file() const { return document != nullptr || stream != nullptr; }
};

// --sort and --top on a finished table. A text column is sorted ascending, others descending.
// False if there is no such column.
bool SortRows(Table& table, std::string_view column);
void LimitRows(Table& table, int64_t top);

// The reports' tables and texts, each in the file of its name.
Table SummaryTable(const ReportInput& input);
void SummaryText(const ReportInput& input, std::ostream& out);
// Two parts of it: what was traced, with the losses that matter; and everything else.
void SummaryHeadText(const ReportInput& input, std::ostream& out);
void SummaryDetailsText(const ReportInput& input, std::ostream& out);
Table TreeTable(const ReportInput& input);
void TreeText(const ReportInput& input, std::ostream& out);
Table FlatTable(const ReportInput& input);
void FlatText(const ReportInput& input, std::ostream& out);
Table SitesTable(const ReportInput& input);
void SitesText(const ReportInput& input, std::ostream& out);
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
void ClassesText(const ReportInput& input, std::ostream& out);
Table NeverTable(const ReportInput& input);
void NeverText(const ReportInput& input, std::ostream& out);
Table LinesTable(const ReportInput& input);
void LinesText(const ReportInput& input, std::ostream& out);
Table CoverageTable(const ReportInput& input);
void CoverageText(const ReportInput& input, std::ostream& out);
Table SourceTable(const ReportInput& input);
void SourceText(const ReportInput& input, std::ostream& out);
Table ByThreadTable(const ReportInput& input);
void ByThreadText(const ReportInput& input, std::ostream& out);
Table ThreadsTable(const ReportInput& input);
void ThreadsText(const ReportInput& input, std::ostream& out);
Table MetricsTable(const ReportInput& input);
void MetricsText(const ReportInput& input, std::ostream& out);
Table LabelsTable(const ReportInput& input);
Table WaitsTable(const ReportInput& input);
Table WaitedTable(const ReportInput& input);
Table IoTable(const ReportInput& input);
Table SegmentsTable(const ReportInput& input);
void SegmentsText(const ReportInput& input, std::ostream& out);
Table HooksTable(const ReportInput& input);
void HooksText(const ReportInput& input, std::ostream& out);
Table JitTable(const ReportInput& input);
void JitReportText(const ReportInput& input, std::ostream& out);

}  // namespace jtrace::postproc
