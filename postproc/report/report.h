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

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/jit_log.h"
#include "postproc/calltree/timeline.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/calltree/tree_profile.h"
#include "postproc/lines/coverage.h"
#include "postproc/lines/line_profile.h"
#include "postproc/lines/line_sources.h"
#include "postproc/model/import_stats.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/record_counts.h"
#include "postproc/report/arc_width.h"
#include "postproc/report/table.h"
#include "postproc/samples/event_logs.h"
#include "postproc/samples/sample_log.h"
#include "postproc/source/source_finder.h"

namespace jtrace::postproc {

// A report that is written while the trace is read, record by record: its memory does not grow with
// the trace (Report::stream).
class RecordWriter : public RecordVisitor {
 public:
  // Call once, after the last record. An error says why nothing was written, and what to do.
  virtual absl::Status Finish() = 0;
};

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

// What traces hold; all references outlive the report.
struct Recorded {
  TraceModel& model;
  const CallTree& tree;
  const TreeProfile& profile;
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
  const LineSources& line_sources;
  const SourceFinder& sources;
  const ImportStats& stats;
  int64_t first_time = 0;
  int64_t last_time = 0;
};

struct ReportInput : Recorded {
  const LineProfile& lines;
  const ReportOptions& options;
  std::vector<std::string>* notes = nullptr;  // gets lines for stderr; null: nobody reads them

  const TreeTotals& totals() const { return profile.totals(); }
  const Measure& measure() const { return profile.measure(); }
  const FlatProfile& flat() const { return profile.flat(); }
  ArcFlow arcs() const { return profile.arcs(); }
  const OutsideCosts& outside() const { return profile.outside(); }
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

// The question that a report answers.
enum class ReportGroup : uint8_t {
  kRecording,    // what was recorded, and what costs time
  kRoutines,     // which routines, and who calls them
  kThreads,      // which threads
  kSamples,      // where samples were
  kEvents,       // what else happened
  kLines,        // which lines ran
  kTools,        // none: it is for another program
  kComparisons,  // what differs between two traces
};

// What must be given or recorded: bits of Report::needs.
enum ReportNeeds : uint32_t {
  kNeedsOf = 1u << 0,      // --of=ROUTINE
  kNeedsLines = 1u << 1,   // counts of lines (blocks=on)
  kNeedsPlaces = 1u << 2,  // places of calls (sites=on)
};

// Options that not all reports honour: bits of Report::accepts. Others are rejected: an ignored
// option would seem to apply.
enum ReportAccepts : uint32_t {
  kAcceptsSort = 1u << 0,
  kAcceptsTop = 1u << 1,
  kAcceptsFilter = 1u << 2,
  kAcceptsMetric = 1u << 3,
  // --metric=bytecodes and cycles where they are known by method only: whoever calls it.
  kAcceptsMethodCosts = 1u << 4,
  kAcceptsRoot = 1u << 5,
  kAcceptsThread = 1u << 6,        // --thread and --with-label
  kAcceptsFold = 1u << 7,          // --fold and --outside
  kAcceptsFoldOfMetric = 1u << 8,  // the same if --metric is given
  kAcceptsScope = 1u << 9,
  kAcceptsSites = 1u << 10,
  kAcceptsBy = 1u << 11,
  kAcceptsBlocks = 1u << 12,
  kAcceptsBytecode = 1u << 13,
  kAcceptsSource = 1u << 14,
  kAcceptsClasses = 1u << 15,
  kAcceptsWidthBy = 1u << 16,
  kAcceptsLabel = 1u << 17,
  // Of reports about records, and of those about nodes of the call tree.
  kAcceptsOfRecords = kAcceptsSort | kAcceptsTop | kAcceptsFilter | kAcceptsThread | kAcceptsScope,
  kAcceptsOfTree = kAcceptsOfRecords | kAcceptsMetric | kAcceptsRoot | kAcceptsFold,
};

// What the rejection of an option recommends.
struct Instead {
  uint32_t option = 0;  // a bit of Report::accepts
  std::string_view text = {};
};

// What an empty report says.
inline constexpr std::string_view kNothingRecorded =
    "nothing was recorded; mode=merged records calls and samples";
inline constexpr std::string_view kNoSamplesRecorded =
    "no samples; mode=merged and mode=samples record them";

// All that there is to know of a report. Each stands in the file of its report;
// input/all_reports.cc lists them.
struct Report {
  std::string_view name = {};
  ReportGroup group = ReportGroup::kRoutines;
  std::string_view summary = {};  // --help
  std::string_view example = {};
  uint32_t needs = 0;    // ReportNeeds
  uint32_t accepts = 0;  // ReportAccepts
  Instead instead[2] = {};
  std::string_view if_empty = {};  // what records its contents; empty: the text says so itself
  // --sort, if it is accepted, and --top are of what the report shows, not of its table's rows.
  bool sorts_itself = false;

  // One of these three, or none if the report is not of one analysis. `text`: null: the table as
  // aligned text.
  Table (*table)(const ReportInput& input) = nullptr;
  void (*text)(const ReportInput& input, std::ostream& out) = nullptr;
  // A file in a separate format: exports, pictures. --format does not apply.
  void (*document)(const ReportInput& input, std::ostream& out) = nullptr;
  // The same, written while the trace is read: dump, timelines.
  std::unique_ptr<RecordWriter> (*stream)(const TraceModel& model, const ReportOptions& options,
                                          std::ostream& out) = nullptr;

  bool is_file() const { return document != nullptr || stream != nullptr; }
  bool Needs(uint32_t bits) const { return (needs & bits) != 0; }
  bool Accepts(uint32_t bits) const { return (accepts & bits) != 0; }
};

// --sort and --top on a finished table. A text column is sorted ascending, others descending.
// False if there is no such column.
bool SortRows(Table& table, std::string_view column);
void LimitRows(Table& table, int64_t top);

// Parts of the overview.
void SummaryHeadText(const ReportInput& input, std::ostream& out);
void SummaryDetailsText(const ReportInput& input, std::ostream& out);
void FlatText(const ReportInput& input, std::ostream& out);
void ArcFlowText(const ReportInput& input, std::ostream& out);

// The table's own name of a column: "base_ticks" of "self", if the measure is ticks. `name` itself
// if the table has it; empty: there is no such column.
std::string ColumnNamed(std::string_view name, const Table& table, const Measure& measure);

// Whether the table of `report` has the column that --sort names.
absl::Status CheckColumn(std::string_view sort, std::string_view report, const Table& table,
                         const Measure& measure);

// Sorts the rows by the column that --sort names, if any; SortRows.
void SortAsWanted(const ReportInput& input, Table& table);

}  // namespace jtrace::postproc
