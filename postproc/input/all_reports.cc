#include "postproc/input/all_reports.h"

#include "postproc/export/exports.h"
#include "postproc/findings/reports.h"
#include "postproc/graph/graph_reports.h"
#include "postproc/page/page_report.h"
#include "postproc/report/paths_report.h"
#include "postproc/report/text_writer.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr Report kReports[] = {
    {"summary", "what was traced, what was lost, how well samples matched", SummaryTable,
     SummaryText, false, "jtrace-post --report=summary trace.bin"},
    {"headline", "where the time went, and the program's methods that are heaviest and called most",
     HeadlineTable, HeadlineText, false, "jtrace-post --report=headline trace.bin"},
    {"findings", "what costs time and can be changed: each with its figures and where to look next",
     FindingsTable, FindingsText, false, "jtrace-post --report=findings trace.bin"},
    {"tree", "calling-context tree: calls, time and ticks of every path", TreeTable, TreeText,
     false, "jtrace-post --report=tree --filter=1 trace.bin", nullptr, nullptr, false, true},
    {"flat", "a row for each routine: calls, base, cum, recursive cum", FlatTable, FlatText, false,
     "jtrace-post --report=flat --sort=calls --top=20 trace.bin"},
    {"arcflow", "every routine with its callers and callees", ArcFlowTable, ArcFlowText, false,
     "jtrace-post --report=arcflow --top=5 trace.bin", nullptr, nullptr, false, true},
    {"sites", "a row for each line that calls, and each routine that it calls (sites=on)",
     SitesTable, SitesText, false, "jtrace-post --report=sites --top=20 trace.bin", nullptr,
     nullptr, false, true},
    {"functions", "samples by the function they interrupted", FunctionsTable, nullptr, false,
     "jtrace-post --report=functions --format=csv trace.bin"},
    {"modules", "samples by module", ModulesTable, nullptr, false,
     "jtrace-post --report=modules trace.bin"},
    {"samples", "every sample with its stack", SamplesTable, nullptr, false,
     "jtrace-post --report=samples --thread='worker-*' trace.bin"},
    {"paths", "sampled call paths, inclusive and exclusive", PathsTable, PathsText, false,
     "jtrace-post --report=paths --scope=app trace.bin", nullptr, nullptr, false, true},
    {"callees", "callees of the routine named by --of, over all its callers", CalleesTable,
     CalleesText, true, "jtrace-post --report=callees --of=org.h2.table.Table.lock trace.bin",
     nullptr, nullptr, false, true},
    {"callers", "callers of the routine named by --of, over all its callees", CallersTable,
     CallersText, true, "jtrace-post --report=callers --of=malloc trace.bin", nullptr, nullptr,
     false, true},
    {"function", "callers and callees of the routine named by --of, with their shares",
     FunctionTable, FunctionText, true,
     "jtrace-post --report=function --of=org.h2.Driver.connect trace.bin", nullptr, nullptr, false,
     true},
    {"classes", "a row for each class: calls, time, methods, loads", ClassesTable, ClassesText,
     false, "jtrace-post --report=classes --top=20 trace.bin"},
    {"never", "methods in scope that never ran", NeverTable, NeverText, false,
     "jtrace-post --report=never trace.bin"},
    {"lines", "how often each source line ran, and its branches (blocks=on)", LinesTable, LinesText,
     false, "jtrace-post --report=lines --top=20 trace.bin", nullptr, nullptr, true},
    {"coverage", "the share of lines or branches that ran, by package and class (blocks=on)",
     CoverageTable, CoverageText, false, "jtrace-post --report=coverage --by=branches trace.bin",
     nullptr, nullptr, true},
    {"source", "source files with the count of each line (blocks=on)", SourceTable, SourceText,
     false, "jtrace-post --report=source --of=acme.Cache --source=src/main/java trace.bin", nullptr,
     nullptr, true},
    {"threads", "a row for each thread", ThreadsTable, ThreadsText, false,
     "jtrace-post --report=threads trace.bin"},
    {"bythread", "a row for each routine of each thread: ticks, calls, times", ByThreadTable,
     ByThreadText, false, "jtrace-post --report=bythread --top=20 trace.bin"},
    {"metrics", "metric totals by thread; with --metric, by routine", MetricsTable, MetricsText,
     false, "jtrace-post --report=metrics --metric=alloc.bytes trace.bin"},
    {"labels", "samples by the labels that the program gave to its threads (JTrace.label)",
     LabelsTable, nullptr, false, "jtrace-post --report=labels trace.bin"},
    {"waits", "where threads wait, and for what", WaitsTable, nullptr, false,
     "jtrace-post --report=waits --top=20 trace.bin"},
    {"waited", "which threads others waited for, where, how often and how long (codes=+waited)",
     WaitedTable, nullptr, false, "jtrace-post --report=waited --top=20 trace.bin"},
    {"io", "files and peers that were read and written (codes=+io)", IoTable, nullptr, false,
     "jtrace-post --report=io --top=20 trace.bin"},
    {"segments", "segments of code that the program named: how often, how long (JTrace.segment)",
     SegmentsTable, SegmentsText, false, "jtrace-post --report=segments --top=20 trace.bin"},
    {"hooks", "calls of native functions with hooks (hook=): who calls them, how long they take",
     HooksTable, HooksText, false, "jtrace-post --report=hooks --top=10 trace.bin"},
    {"jit", "hot calls that were not inlined and why, methods compiled again", JitTable,
     JitReportText, false, "jtrace-post --report=jit --top=10 trace.bin"},
    {"html", "one page with all pictures and tables, for a browser", nullptr, nullptr, false,
     "jtrace-post --report=html -o report.html trace.bin", PageDocument, nullptr, false, true},
    {"graph", "the call graph's arcs: calls, share, width; rarely used routines collapsed",
     GraphTable, GraphText, false, "jtrace-post --report=graph --filter=2 trace.bin", nullptr,
     nullptr, false, true},
    {"dot", "the call graph as a picture for Graphviz", nullptr, nullptr, false,
     "jtrace-post --report=dot trace.bin | dot -Tsvg -o graph.svg", WriteDot, nullptr, false, true},
    {"collapsed", "stacks as lines `thread;frame;frame VALUE`, for flame graphs", nullptr, nullptr,
     false, "jtrace-post --report=collapsed --metric=calls -o stacks.txt trace.bin", WriteCollapsed,
     nullptr, false, true},
    {"pprof", "profile for pprof, Pyroscope and similar tools, with all metrics", nullptr, nullptr,
     false, "jtrace-post --report=pprof -o profile.pb.gz trace.bin", WritePprof, nullptr, false,
     true},
    {"otlp", "OpenTelemetry's profiles, as a collector receives them, with all metrics", nullptr,
     nullptr, false, "jtrace-post --report=otlp -o profiles.pb trace.bin", WriteOtlp, nullptr,
     false, true},
    {"speedscope", "profile for speedscope.app, one for each thread", nullptr, nullptr, false,
     "jtrace-post --report=speedscope -o trace.speedscope.json trace.bin", WriteSpeedscope, nullptr,
     false, true},
    {"callgrind", "profile for KCachegrind and callgrind_annotate, with exact calls of each arc",
     nullptr, nullptr, false, "jtrace-post --report=callgrind -o callgrind.out trace.bin",
     WriteCallgrind, nullptr, false, true},
    {"perfetto", "timeline of a log, for ui.perfetto.dev and chrome://tracing", nullptr, nullptr,
     false, "jtrace-post --report=perfetto --thread=main -o timeline.json trace.bin", nullptr,
     MakePerfettoWriter},
    {"jfr", "samples as a recording of Flight Recorder, for JDK Mission Control", nullptr, nullptr,
     false, "jtrace-post --report=jfr -o samples.jfr trace.bin", nullptr, MakeJfrWriter},
    {"lcov", "counts of lines for genhtml and editors (blocks=on)", nullptr, nullptr, false,
     "jtrace-post --report=lcov --source=src/main/java -o coverage.info trace.bin", WriteLcov,
     nullptr, true},
    {"jacoco", "coverage as XML of JaCoCo, for SonarQube and others (blocks=on)", nullptr, nullptr,
     false, "jtrace-post --report=jacoco -o jacoco.xml trace.bin", WriteJacoco, nullptr, true},
    {"cobertura", "coverage as XML of Cobertura, for GitLab, Jenkins and others (blocks=on)",
     nullptr, nullptr, false, "jtrace-post --report=cobertura -o cobertura.xml trace.bin",
     WriteCobertura, nullptr, true},
    {"dump", "the trace as text, record by record; it gives the same reports", nullptr, nullptr,
     false, "jtrace-post dump trace.bin > trace.jtxt", nullptr, MakeTextWriter},
};

}  // namespace

absl::Span<const Report> AllReports() { return kReports; }

const Report* FindReport(std::string_view name) {
  for (const Report& report : kReports) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

}  // namespace jtrace::postproc
