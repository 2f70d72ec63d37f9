#include "postproc/report/report.h"

#include <algorithm>

#include "postproc/export/exports.h"
#include "postproc/graph/graph_reports.h"
#include "postproc/page/page_report.h"
#include "postproc/report/paths_report.h"
#include "postproc/report/text_writer.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr Report kReports[] = {
    {"summary", "what was traced, what was lost, how well samples fitted", SummaryTable,
     SummaryText, false, "jtrace-post --report=summary trace.bin"},
    {"tree", "calling-context tree: calls, time and ticks of every path", TreeTable, TreeText,
     false, "jtrace-post --report=tree --filter=1 trace.bin"},
    {"flat", "a row a routine: calls, base, cum, recursive cum", FlatTable, FlatText, false,
     "jtrace-post --report=flat --sort=calls --top=20 trace.bin"},
    {"arcflow", "every routine with its callers and callees", ArcFlowTable, ArcFlowText, false,
     "jtrace-post --report=arcflow --top=5 trace.bin"},
    {"functions", "samples by the function they interrupted", FunctionsTable, nullptr, false,
     "jtrace-post --report=functions --format=csv trace.bin"},
    {"modules", "samples by module", ModulesTable, nullptr, false,
     "jtrace-post --report=modules trace.bin"},
    {"samples", "every sample with its stack", SamplesTable, nullptr, false,
     "jtrace-post --report=samples --thread='worker-*' trace.bin"},
    {"paths", "sampled call paths, inclusive and exclusive", PathsTable, PathsText, false,
     "jtrace-post --report=paths --scope=app trace.bin"},
    {"callees", "what the routine named by --of calls, whoever called it", CalleesTable,
     CalleesText, true, "jtrace-post --report=callees --of=org.h2.table.Table.lock trace.bin"},
    {"callers", "who calls the routine named by --of, whatever it calls", CallersTable, CallersText,
     true, "jtrace-post --report=callers --of=malloc trace.bin"},
    {"function", "callers and callees of the routine named by --of, with their shares",
     FunctionTable, FunctionText, true,
     "jtrace-post --report=function --of=org.h2.Driver.connect trace.bin"},
    {"classes", "a row a class: calls, time, methods, loads", ClassesTable, ClassesText, false,
     "jtrace-post --report=classes --top=20 trace.bin"},
    {"never", "methods in scope that never ran", NeverTable, NeverText, false,
     "jtrace-post --report=never trace.bin"},
    {"threads", "a row a thread", ThreadsTable, nullptr, false,
     "jtrace-post --report=threads trace.bin"},
    {"metrics", "metric totals by thread; with --metric, by routine", MetricsTable, nullptr, false,
     "jtrace-post --report=metrics --metric=alloc.bytes trace.bin"},
    {"waits", "where threads wait, and for what", WaitsTable, nullptr, false,
     "jtrace-post --report=waits --top=20 trace.bin"},
    {"hooks", "calls of native functions with hooks (hook=): who calls them, how long they take",
     HooksTable, HooksText, false, "jtrace-post --report=hooks --top=10 trace.bin"},
    {"jit", "hot calls that were not inlined, methods compiled again", JitTable, JitReportText,
     false, "jtrace-post --report=jit --top=10 trace.bin"},
    {"html", "one page with all pictures and tables, for a browser", nullptr, nullptr, false,
     "jtrace-post --report=html -o report.html trace.bin", PageDocument},
    {"graph", "the call graph's arcs: calls, share, width; rarely used routines collapsed",
     GraphTable, GraphText, false, "jtrace-post --report=graph --filter=2 trace.bin"},
    {"dot", "the call graph as a picture for Graphviz", nullptr, nullptr, false,
     "jtrace-post --report=dot trace.bin | dot -Tsvg -o graph.svg", WriteDot},
    {"collapsed", "stacks as lines `thread;frame;frame VALUE`, for flame graphs", nullptr, nullptr,
     false, "jtrace-post --report=collapsed --metric=calls -o stacks.txt trace.bin",
     WriteCollapsed},
    {"pprof", "profile for pprof, Pyroscope and the like, with all metrics", nullptr, nullptr,
     false, "jtrace-post --report=pprof -o profile.pb.gz trace.bin", WritePprof},
    {"speedscope", "profile for speedscope.app, a profile a thread", nullptr, nullptr, false,
     "jtrace-post --report=speedscope -o trace.speedscope.json trace.bin", WriteSpeedscope},
    {"callgrind", "profile for KCachegrind and callgrind_annotate, with exact calls of each arc",
     nullptr, nullptr, false, "jtrace-post --report=callgrind -o callgrind.out trace.bin",
     WriteCallgrind},
    {"perfetto", "timeline of a log, for ui.perfetto.dev and chrome://tracing", nullptr, nullptr,
     false, "jtrace-post --report=perfetto --thread=main -o timeline.json trace.bin", nullptr,
     MakePerfettoWriter},
    {"dump", "the trace as text, record by record; reports of it are the same", nullptr, nullptr,
     false, "jtrace-post dump trace.bin > trace.jtxt", nullptr, MakeTextWriter},
};

int64_t CellOrder(const Cell& a, const Cell& b) {
  if (a.kind() == Cell::Kind::kText || b.kind() == Cell::Kind::kText) {
    return a.text().compare(b.text());
  }
  if (a.kind() == Cell::Kind::kPercent || b.kind() == Cell::Kind::kPercent) {
    return a.percent() > b.percent() ? -1 : a.percent() < b.percent() ? 1 : 0;
  }
  return a.integer() > b.integer() ? -1 : a.integer() < b.integer() ? 1 : 0;
}

}  // namespace

absl::Span<const Report> AllReports() { return kReports; }

const Report* FindReport(std::string_view name) {
  for (const Report& report : kReports) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

bool SortRows(Table& table, std::string_view column) {
  const int index = table.Find(column);
  if (index < 0) return false;
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return CellOrder(a[static_cast<size_t>(index)], b[static_cast<size_t>(index)]) < 0;
  });
  return true;
}

void LimitRows(Table& table, int64_t top) {
  if (top > 0 && table.rows.size() > static_cast<uint64_t>(top)) {
    table.rows.resize(static_cast<size_t>(top));
  }
}

void AddMeasureCells(const ReportInput& input, std::initializer_list<std::optional<int64_t>> values,
                     std::vector<Cell>& row) {
  if (!input.measure.is_chosen) return;
  for (const std::optional<int64_t> value : values) {
    row.push_back(value.has_value() ? Cell::Int(*value) : Cell::Empty());
  }
}

bool IsFiltered(const ReportInput& input, int64_t part, int64_t whole) {
  const double least = input.options.filter_percent;
  return least > 0 && PercentOf(part, whole) < least;
}

std::string FormatMeasure(const ReportInput& input, int64_t value) {
  return FormatInteger(value, StyleOf(input.measure), input.units());
}

std::string ByMeasure(const ReportInput& input) {
  return input.measure.is_chosen ? StrCat(" by ", Printable(input.measure.name)) : "";
}

void AddMeasureColumns(const ReportInput& input, MeasureColumns which, Table& table) {
  const Measure& measure = input.measure;
  if (!measure.is_chosen) return;
  for (const std::string_view ending : {".base", ".cum", ".cum2"}) {
    if (ending == ".cum2" && which == MeasureColumns::kBaseCum) continue;
    table.columns.push_back({StrCat(measure.name, ending), StyleOf(measure)});
  }
}

}  // namespace jtrace::postproc
