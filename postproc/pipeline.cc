#include "postproc/pipeline.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/analysis.h"
#include "postproc/diff/diff_page.h"
#include "postproc/diff/diff_report.h"
#include "postproc/diff/fail_rule.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/findings/reports.h"
#include "postproc/fleet/dataset.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/command_line.h"
#include "postproc/input/option_checks.h"
#include "postproc/input/selection.h"
#include "postproc/input/trace_input.h"
#include "postproc/model/import_stats.h"
#include "postproc/reader/record_filter.h"
#include "postproc/report/report.h"
#include "postproc/report/table.h"
#include "postproc/support/colour_stream.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/output_file.h"
#include "postproc/support/printable_stream.h"
#include "postproc/support/progress_buffer.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Which rules of --fail-on a trace, or a comparison of two, breaks.
using Lines = std::vector<std::string>;

// Whether calls and samples of the program are missing if that problem occurred.
bool LosesRecords(Problem problem) {
  return problem == Problem::kDamagedFrame || problem == Problem::kDamagedChunk ||
         problem == Problem::kOversizedChunk || problem == Problem::kDamagedLog ||
         problem == Problem::kMissingChunk;
}

absl::Status CheckWhole(Analysis& analysis, std::string_view trace,
                        std::string_view would_look_like) {
  for (const Problem problem : analysis.stats().Occurred()) {
    if (!LosesRecords(problem)) continue;
    return absl::FailedPreconditionError(StrCat(trace, " is damaged (", InfoOf(problem).what,
                                                "): missing parts would look like ",
                                                would_look_like, " (--fail-on)"));
  }
  for (const TraceInfo& info : analysis.model().traces()) {
    if (!info.cut_off && !info.running) continue;
    return absl::FailedPreconditionError(StrCat(
        info.file, " has no end: missing parts would look like ", would_look_like, " (--fail-on)"));
  }
  return absl::OkStatus();
}

void AddBroken(const FailRule& rule, const Lines& broken, Lines& lines) {
  for (const std::string& line : broken) {
    lines.push_back(StrCat("--fail-on=", rule.text, ": ", line));
  }
}

absl::Status AddBrokenCoverage(const CommandLine& line, Analysis& analysis, Lines& lines) {
  for (const FailRule& rule : line.fail_rules) {
    if (!IsCoverageRule(rule)) continue;
    const LineProfile& counted = analysis.lines();
    if (absl::Status status = CheckCoverage(rule, counted); !status.ok()) return status;
    AddBroken(rule, BrokenCoverage(rule, counted), lines);
  }
  return absl::OkStatus();
}

// Lines for stderr; empty: the rules hold. An error if one of them cannot be checked, or if parts
// of a trace are missing: a gate that checks nothing must not pass.
absl::StatusOr<Lines> BrokenRules(const CommandLine& line, Analysis& analysis) {
  Lines lines;
  if (line.fail_rules.empty()) return lines;
  absl::Status status = CheckWhole(analysis, line.traces.front(), "code that never ran");
  if (status.ok()) status = AddBrokenCoverage(line, analysis, lines);
  if (!status.ok()) return status;
  return lines;
}

absl::StatusOr<Lines> BrokenRules(const CommandLine& line, Analysis& before, Analysis& after,
                                  const ProfileDiff& diff) {
  Lines lines;
  if (line.fail_rules.empty()) return lines;
  for (Analysis* side : {&before, &after}) {
    const std::string& trace = line.traces[side == &before ? 0 : 1];
    if (absl::Status status = CheckWhole(*side, trace, "a change"); !status.ok()) return status;
  }
  const LineProfile& lines_before = before.lines();
  const LineProfile& lines_after = after.lines();
  for (const FailRule& rule : line.fail_rules) {
    if (IsCoverageRule(rule)) continue;
    const bool is_cost = IsLineCostRule(rule);
    const absl::Status status =
        is_cost ? CheckLineCost(rule, lines_before, lines_after) : CheckRule(rule, diff);
    if (!status.ok()) return status;
    AddBroken(rule, is_cost ? BrokenLineCost(rule, lines_before, lines_after) : Broken(rule, diff),
              lines);
  }
  if (absl::Status status = AddBrokenCoverage(line, after, lines); !status.ok()) return status;
  return lines;
}

// `report` gets what is wrong with each trace, `say` what the tables lack of it. An error of one
// trace ends all: no file appears then but those of batches that were full before.
absl::Status WriteTables(const CommandLine& line, const TraceInput& traces,
                         absl::FunctionRef<void(const ImportStats&)> report,
                         absl::FunctionRef<void(std::string_view)> say) {
  fleet::DatasetWriter writer({line.output, line.labels, say});
  for (const std::string& trace : line.traces) {
    Analysis analysis(line);
    absl::Status status = analysis.Read(traces, absl::MakeConstSpan(&trace, 1));
    report(analysis.stats());
    if (status.ok()) status = writer.Add(analysis.Input());
    if (!status.ok()) return status;
  }
  return writer.Finish();
}

// One run: the stages and the data between them.
class Pipeline {
 public:
  Pipeline(const CommandLine& line, Environment& environment)
      : line_(line), environment_(environment), traces_(line, environment) {}

  // No exception leaves it.
  int Run();

 private:
  int RunReports();
  int RunTables();
  int Fail(const absl::Status& status);
  absl::Status Stream(const Report& report, std::ostream& out);
  absl::Status WriteReports(std::ostream& out);
  absl::Status WriteDiff(std::ostream& out);
  // On stderr, which rules of --fail-on are broken.
  absl::Status ReportBroken(const absl::StatusOr<std::vector<std::string>>& broken);
  // Sorted as --sort says, except for reports with a fixed order.
  absl::Status WriteTable(const Report& report, Table table, const ReportInput& input,
                          std::ostream& out);
  void WriteHint(const Report& report, std::ostream& out) const;
  absl::Status WriteReport(const Report& report, const ReportInput& input, std::ostream& out);
  bool WantsColour() const;
  void ReportTicks(const TraceModel& model);
  // The metric of --metric is known of threads, not of methods.
  void ReportByThread(const ReportInput& input);
  void ReportProblems(const ImportStats& stats);

  // One line on stderr; messages quote traces and arguments.
  void Say(std::string_view message) const {
    if (progress_ != nullptr) progress_->Clear();
    environment_.err << "jtrace-post: " << Printable(message) << '\n';
  }

  const CommandLine& line_;
  Environment& environment_;
  const TraceInput traces_;
  bool rule_broken_ = false;
  std::unique_ptr<ProgressBuffer> progress_;
};

absl::Status Pipeline::Stream(const Report& report, std::ostream& out) {
  TraceModel model;
  ImportStats stats;
  const std::unique_ptr<RecordWriter> writer = report.stream(model, line_.report, out);
  RecordFilter filter({line_.thread, line_.with_labels, line_.scope}, model, {writer.get()});
  absl::Status read = traces_.Read(line_.traces, /*reduce_calls=*/false, model, stats, filter);
  ReportProblems(stats);
  if (!read.ok()) return read;
  if (absl::Status status = CheckThread(line_, model); !status.ok()) return status;
  if (absl::Status status = CheckLabels(line_, model); !status.ok()) return status;
  return writer->Finish();
}

// What would have filled an empty report.
void Pipeline::WriteHint(const Report& report, std::ostream& out) const {
  const bool selects = line_.report.filter_percent > 0 || !line_.thread.empty() ||
                       !line_.with_labels.empty() || !line_.report.root.empty() ||
                       line_.scope != Scope::kFull;
  out << "nothing to show: " << (report.if_empty.empty() ? "the trace has none" : report.if_empty);
  if (selects) out << "; or --thread, --with-label, --root, --scope, --filter leave nothing";
  out << '\n';
}

absl::Status Pipeline::WriteTable(const Report& report, Table table, const ReportInput& input,
                                  std::ostream& out) {
  if (!report.sorts_itself && !line_.report.sort.empty()) {
    if (absl::Status status = CheckColumn(line_.report.sort, report.name, table, input.measure());
        !status.ok()) {
      return status;
    }
    SortAsWanted(input, table);
  }
  if (!report.sorts_itself) LimitRows(table, line_.report.top);
  switch (line_.format) {
    case Format::kCsv:
      WriteCsv(table, out, line_.guards_formulas ? CsvText::kGuarded : CsvText::kAsItIs);
      break;
    case Format::kJson:
      WriteJson(report.name, table, input.units(), out);
      break;
    case Format::kText:
      WriteText(table, input.layout(), out);
      if (table.rows.empty()) WriteHint(report, out);
      break;
  }
  return absl::OkStatus();
}

absl::Status Pipeline::WriteReport(const Report& report, const ReportInput& input,
                                   std::ostream& out) {
  if (report.document != nullptr) {
    report.document(input, out);
    return absl::OkStatus();
  }
  if (line_.format != Format::kText || report.text == nullptr) {
    return WriteTable(report, report.table(input), input, out);
  }
  if (!line_.report.sort.empty() && !report.sorts_itself) {
    if (absl::Status status =
            CheckColumn(line_.report.sort, report.name, report.table(input), input.measure());
        !status.ok()) {
      return status;
    }
  }
  if (!report.if_empty.empty() && report.table(input).empty()) {
    WriteHint(report, out);
    return absl::OkStatus();
  }
  report.text(input, out);
  return absl::OkStatus();
}

absl::Status Pipeline::WriteReports(std::ostream& out) {
  Analysis analysis(line_);
  absl::Status read = analysis.Read(traces_, line_.traces);
  ReportProblems(analysis.stats());
  if (!read.ok()) return read;
  if (absl::Status status = analysis.CheckSelected(); !status.ok()) return status;
  std::vector<std::string> notes;
  const auto input_with = [&](bool sites) {
    ReportInput input = sites ? analysis.InputWithSites() : analysis.Input();
    input.notes = &notes;
    return input;
  };
  ReportTicks(analysis.model());
  if (!line_.report.metric.empty()) ReportByThread(input_with(false));
  if (line_.reports.empty() && line_.format == Format::kText) {
    OverviewText(input_with(true), out);
    return ReportBroken(BrokenRules(line_, analysis));
  }
  const std::vector<std::string> overview = {"summary", "tree", "flat", "arcflow"};
  bool first = true;
  for (const std::string& name : line_.reports.empty() ? overview : line_.reports) {
    if (!first && line_.format != Format::kJson) out << '\n';
    first = false;
    const Report& report = *FindReport(name);
    absl::Status status = WriteReport(report, input_with(report.Accepts(kAcceptsSites)), out);
    for (const std::string& note : std::exchange(notes, {})) Say(note);
    if (!status.ok()) return status;
  }
  return ReportBroken(BrokenRules(line_, analysis));
}

absl::Status Pipeline::WriteDiff(std::ostream& out) {
  std::array<std::optional<Analysis>, 2> sides;
  for (size_t i = 0; i < sides.size(); ++i) {
    absl::Status read =
        sides[i].emplace(line_).Read(traces_, absl::MakeConstSpan(&line_.traces[i], 1));
    ReportProblems(sides[i]->stats());
    if (!read.ok()) return read;
  }
  // A routine or metric may have appeared or vanished.
  absl::Status selected = sides[1]->CheckSelected();
  if (!selected.ok() && !sides[0]->CheckSelected().ok()) return selected;
  const ReportInput after = sides[1]->Input();
  if (absl::Status status = CheckAlike(sides[0]->Input(), after); !status.ok()) return status;
  for (const std::string& line : RecordedOtherwise(sides[0]->Input(), after)) {
    Say(StrCat("warning: ", line));
  }
  const ProfileDiff diff = Compare(sides[0]->Input(), after);
  const absl::StatusOr<std::vector<std::string>> broken =
      BrokenRules(line_, *sides[0], *sides[1], diff);
  const std::vector<std::string> lines = broken.value_or(std::vector<std::string>());
  if (IsDiffPage(line_)) {
    DiffPage(diff, sides[0]->Input(), after, lines, out);
  } else if (line_.reports.front() == "markdown") {
    DiffMarkdown(diff, after, lines, out);
  } else if (line_.format == Format::kText) {
    DiffText(diff, after, out);
  } else if (absl::Status status =
                 WriteTable(*FindReport("diff"), DiffTable(diff, line_.report), after, out);
             !status.ok()) {
    return status;
  }
  return ReportBroken(broken);
}

absl::Status Pipeline::ReportBroken(const absl::StatusOr<std::vector<std::string>>& broken) {
  if (!broken.ok()) return broken.status();
  for (const std::string& line : *broken) {
    rule_broken_ = true;
    Say(line);
  }
  return absl::OkStatus();
}

void Pipeline::ReportProblems(const ImportStats& stats) {
  for (const std::string& detail : stats.details()) Say(detail);
  for (const Problem problem : stats.Occurred()) {
    if (InfoOf(problem).severity == Severity::kInfo) continue;
    Say(CountedText(stats.count(problem), InfoOf(problem).what));
  }
}

// A file is not a terminal.
bool Pipeline::WantsColour() const {
  if (line_.colour != Colour::kAuto) return line_.colour == Colour::kAlways;
  return line_.output.empty() && environment_.out_has_colours;
}

// Ticks of several traces are added unchanged.
void Pipeline::ReportTicks(const TraceModel& model) {
  const auto& traces = model.traces();
  const bool alike = std::all_of(traces.begin(), traces.end(), [&](const TraceInfo& trace) {
    return trace.interval_ns == traces.front().interval_ns ||
           trace.interval_ns * traces.front().interval_ns == 0;
  });
  if (alike) return;
  Say("warning: a tick is not the same time in all traces, and shares weigh all ticks alike; "
      "record "
      "them with one interval=");
}

void Pipeline::ReportByThread(const ReportInput& input) {
  const Measure& measure = input.measure();
  if (!measure.is_chosen || measure.kind != Measure::Kind::kMetric) return;
  bool has_any = false;
  bool is_by_method = false;
  for (uint32_t i = 1; i <= input.tree.size(); ++i) {
    const bool has_value = measure.Base(NodeId(i)) != 0;
    has_any = has_any || has_value;
    is_by_method = is_by_method || (has_value && input.tree.node(NodeId(i)).parent);
  }
  if (!has_any || is_by_method) return;
  const std::string_view how = InfoOfMetric(measure.name).by_method;
  Say(StrCat("note: ", measure.name, " is known by thread only (--report=metrics)",
             how.empty() ? "" : "; to record it by method: ", how));
}

int Pipeline::Fail(const absl::Status& status) {
  Say(std::string(status.message()));
  return ExitCodeOf(status);
}

int Pipeline::Run() {
  try {
    return RunReports();
  } catch (const std::bad_alloc&) {
    return Fail(OfKind(ErrorKind::kMemory, absl::ResourceExhaustedError("out of memory")));
  } catch (const std::exception& error) {
    return Fail(absl::InternalError(
        StrCat("cannot make the report (", error.what(), "): please report this, with the trace")));
  }
}

int Pipeline::RunTables() {
  absl::Status status = WriteTables(
      line_, traces_, [this](const ImportStats& stats) { ReportProblems(stats); },
      [this](std::string_view note) { Say(note); });
  return status.ok() ? kExitDone : Fail(status);
}

int Pipeline::RunReports() {
  if (WritesTables(line_)) return RunTables();

  if (absl::Status status = CheckOutput(line_); !status.ok()) return Fail(UsageError(status));

  // Opened before the work, so that an unwritable output is reported at once.
  std::optional<OutputFile> file;
  if (!line_.output.empty()) {
    absl::StatusOr<OutputFile> opened = OutputFile::Open(line_.output);
    if (!opened.ok()) return Fail(opened.status());
    file = *std::move(opened);
  }
  std::ostream& written = file.has_value() ? file->stream() : environment_.out;
  const Report* first = line_.reports.empty() ? nullptr : FindReport(line_.reports.front());
  const bool is_stream = first != nullptr && first->stream != nullptr;
  progress_ = std::make_unique<ProgressBuffer>(written, environment_.err);
  std::ostream counted(progress_.get());
  // A pipe may lead to a pager, which has the terminal. A stream is written while a trace is read,
  // which has a line of its own.
  const bool shows_progress =
      environment_.err_is_terminal && !is_stream && (file.has_value() || environment_.out_is_file);
  std::ostream& out = shows_progress ? counted : written;
  const bool is_file = IsDiffPage(line_) || (first != nullptr && first->is_file());
  const bool for_people = line_.format == Format::kText && !is_file;
  ColourBuffer colours(out);
  std::ostream coloured(&colours);
  PrintableBuffer printable(WantsColour() ? coloured : out);
  std::ostream printable_out(&printable);
  std::ostream& shown = for_people ? printable_out : out;
  const bool is_diff = ComparesTraces(line_);
  absl::Status status = is_diff     ? WriteDiff(shown)
                        : is_stream ? Stream(*first, shown)
                                    : WriteReports(shown);
  if (!status.ok()) return Fail(status);
  shown.flush();
  out.flush();
  if (!out) {
    return Fail(OfKind(ErrorKind::kOutput,
                       absl::UnavailableError(StrCat(
                           "cannot write ", line_.output.empty() ? "the output" : line_.output))));
  }
  if (file.has_value()) {
    if (absl::Status done = file->Commit(); !done.ok()) return Fail(done);
  }
  return rule_broken_ ? kExitRule : kExitDone;
}

}  // namespace

int RunPostProcessor(absl::Span<const std::string_view> args, Environment& environment) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) {
    environment.err << "jtrace-post: " << Printable(std::string(line.status().message())) << '\n';
    return kExitUsage;
  }
  if (line->help) {
    environment.out << HelpText();
    return kExitDone;
  }
  if (line->version) {
    environment.out << "jtrace-post " << kVersion << '\n';
    return kExitDone;
  }
  if (!line->width_given && environment.terminal_width > 0) {
    line->report.width = environment.terminal_width;
  }
  line->report.on_terminal = environment.terminal_width > 0 && line->output.empty();
  return Pipeline(*line, environment).Run();
}

}  // namespace jtrace::postproc
