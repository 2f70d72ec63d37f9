#include "postproc/pipeline.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "postproc/calltree/reroot.h"
#include "postproc/command_line.h"
#include "postproc/reader/record_filter.h"
#include "postproc/reader/trace_reader.h"
#include "postproc/report/json.h"
#include "postproc/report/text_writer.h"
#include "postproc/report/tree_view.h"
#include "postproc/selection.h"
#include "postproc/support/printable_stream.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"
#include "proto/nearest.h"

namespace jtrace::postproc {
namespace {

// One run: the stages and what flows between them.
class Pipeline {
 public:
  Pipeline(const CommandLine& line, Environment& environment)
      : line_(line), environment_(environment), printable_err_(environment.err) {}

  int Run();

 private:
  absl::Status ReadTraces(RecordVisitor& visitor, bool reduce_calls);
  absl::Status Dump(std::ostream& out);
  absl::Status WriteReports(std::ostream& out);
  absl::Status WriteReport(const Report& report, const ReportInput& input, std::ostream& out);
  absl::Status CheckSort() const;
  absl::Status CheckOutput() const;
  void TellProblems();
  ProgressFunction Progress(const std::string& file) const;

  const CommandLine& line_;
  Environment& environment_;
  // For messages, which quote traces and arguments.
  PrintableBuffer printable_err_;
  std::ostream err_{&printable_err_};
  TraceModel model_;
  ImportStats stats_;
};

ProgressFunction Pipeline::Progress(const std::string& file) const {
  if (!environment_.err_is_terminal) return nullptr;
  std::ostream& err = environment_.err;
  std::ostringstream shown;
  PrintableBuffer printable(shown);
  std::ostream(&printable) << file;
  return [&err, file = shown.str(), last = -1](double fraction) mutable {
    const int percent = static_cast<int>(fraction * 100);
    if (percent == last) return;
    last = percent;
    err << "\rreading " << file << ": " << percent << " %" << (percent >= 100 ? "\r\x1b[K" : "")
        << std::flush;
  };
}

absl::Status Pipeline::ReadTraces(RecordVisitor& visitor, bool reduce_calls) {
  for (const std::string& path : line_.traces) {
    const absl::StatusOr<InputFile> file = environment_.open(path);
    if (!file.ok()) return file.status();
    ReadOptions options;
    options.raw_names = line_.raw_names;
    options.progress = Progress(path);
    options.jobs = line_.jobs > 0 ? line_.jobs : std::max(environment_.processors, 1);
    options.reduce_calls = reduce_calls;
    options.least_run = environment_.least_run;
    if (environment_.is_writing != nullptr) {
      options.is_writing = [&](int64_t pid) { return environment_.is_writing(pid, path); };
    }
    if (absl::Status status = ReadAnyTrace(file->content(), path, options, model_, stats_, visitor);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Dump(std::ostream& out) {
  TextWriter writer(model_, out);
  RecordFilter filter(line_.thread, line_.scope, model_, {&writer});
  if (absl::Status status = ReadTraces(filter, false); !status.ok()) return status;
  if (absl::Status status = CheckThread(line_, model_); !status.ok()) return status;
  writer.Finish();
  return absl::OkStatus();
}

absl::Status Pipeline::CheckSort() const {
  const std::string& sort = line_.report.sort;
  if (!sort.empty() && line_.reports == std::vector<std::string>{"arcflow"}) {
    return absl::InvalidArgumentError(
        "--sort: arcflow has one order, by total; --report=flat can be sorted");
  }
  const bool for_tree =
      line_.reports.empty() ||
      std::find(line_.reports.begin(), line_.reports.end(), "tree") != line_.reports.end();
  if (sort.empty() || !for_tree || IsTreeColumn(sort)) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("--sort: the tree has no column '", sort,
                                           "'; nearest: ", Nearest(sort, TreeColumns())));
}

// Opening the output empties it.
absl::Status Pipeline::CheckOutput() const {
  if (line_.output.empty()) return absl::OkStatus();
  for (const std::string& trace : line_.traces) {
    std::error_code none;
    if (std::filesystem::equivalent(trace, line_.output, none)) {
      return absl::InvalidArgumentError(
          StrCat("-o ", line_.output, " would overwrite the trace; choose another file"));
    }
  }
  return absl::OkStatus();
}

absl::Status Pipeline::WriteReport(const Report& report, const ReportInput& input,
                                   std::ostream& out) {
  if (report.document != nullptr) {
    report.document(input, out);
    return absl::OkStatus();
  }
  // The tree sorts siblings and the arc flow has its own order; others sort rows.
  const bool sorts_itself = report.name == "tree" || report.name == "arcflow";
  const bool sorted = !line_.report.sort.empty() && line_.report.sort != "first";
  Table table = report.table(input);
  if (!sorts_itself && sorted && !SortRows(table, line_.report.sort)) {
    std::vector<std::string_view> names;
    for (const Column& column : table.columns) names.push_back(column.name);
    return absl::InvalidArgumentError(StrCat("--sort: ", report.name, " has no column '",
                                             line_.report.sort,
                                             "'; nearest: ", Nearest(line_.report.sort, names)));
  }
  if (line_.format == Format::kText && report.text != nullptr) {
    report.text(input, out);
    return absl::OkStatus();
  }
  if (!sorts_itself) LimitRows(table, line_.report.top);
  switch (line_.format) {
    case Format::kCsv:
      WriteCsv(table, out);
      break;
    case Format::kJson:
      WriteJson(report.name, table, input.units(), out);
      break;
    case Format::kText:
      WriteText(table, input.layout(), out);
      break;
  }
  return absl::OkStatus();
}

absl::Status Pipeline::WriteReports(std::ostream& out) {
  SampleLog samples;
  RecordCounts records;
  JitLog jit;
  WaitLog waits(model_);
  ClassLog classes;
  Timeline timeline;
  TreeBuilder builder(line_.merge, line_.aggregate == Aggregate::kProcess, model_, stats_);
  RecordFilter filter(line_.thread, line_.scope, model_,
                      {&builder, &samples, &records, &jit, &waits, &timeline, &classes});
  if (absl::Status status = ReadTraces(filter, true); !status.ok()) return status;
  builder.Finish();
  if (absl::Status status = CheckSelection(line_, model_, builder.tree()); !status.ok()) {
    return status;
  }

  std::optional<RerootedTree> rerooted;
  if (!line_.report.root.empty()) {
    rerooted = Reroot(builder.tree(), builder.Threads(), model_, line_.report.root);
  }
  const CallTree& tree = rerooted.has_value() ? rerooted->tree : builder.tree();
  const std::vector<ThreadSummary> threads =
      rerooted.has_value() ? rerooted->threads : builder.Threads();
  const std::vector<NodeTotals> totals = tree.ComputeTotals();
  const FlatProfile flat(model_, tree, totals);
  const ArcFlow arcs(tree, totals, flat);
  const ReportInput input{model_,
                          tree,
                          totals,
                          flat,
                          arcs,
                          threads,
                          builder.merge_stats(),
                          samples,
                          records,
                          jit,
                          waits,
                          timeline,
                          classes,
                          stats_,
                          builder.first_time(),
                          builder.last_time(),
                          line_.report};
  if (line_.reports.empty() && line_.format == Format::kText) {
    OverviewText(input, out);
    return absl::OkStatus();
  }
  const std::vector<std::string> overview = {"summary", "tree", "flat", "arcflow"};
  bool first = true;
  for (const std::string& name : line_.reports.empty() ? overview : line_.reports) {
    if (!first && line_.format != Format::kJson) out << '\n';
    first = false;
    if (absl::Status status = WriteReport(*FindReport(name), input, out); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

void Pipeline::TellProblems() {
  for (const std::string& detail : stats_.details()) {
    err_ << "jtrace-post: " << detail << '\n';
  }
  for (const Problem problem : stats_.Occurred()) {
    if (InfoOf(problem).severity == Severity::kInfo) continue;
    err_ << "jtrace-post: " << stats_.count(problem) << " " << InfoOf(problem).what << '\n';
  }
}

int Pipeline::Run() {
  const auto fail = [&](const absl::Status& status, int code) {
    err_ << "jtrace-post: " << std::string(status.message()) << '\n';
    return code;
  };
  if (absl::Status status = CheckSort(); !status.ok()) return fail(status, kExitUsage);

  if (absl::Status status = CheckOutput(); !status.ok()) return fail(status, kExitUsage);

  // Opened before the work, so that an unwritable output is told at once.
  std::ofstream file;
  if (!line_.output.empty()) {
    file.open(line_.output, std::ios::binary | std::ios::trunc);
    if (!file) {
      return fail(absl::UnavailableError(StrCat("cannot write ", line_.output)), kExitInputOutput);
    }
  }
  std::ostream& out = line_.output.empty() ? environment_.out : file;
  const bool dump = !line_.reports.empty() && line_.reports.front() == "dump";
  const bool is_document = !line_.reports.empty() && FindReport(line_.reports.front()) != nullptr &&
                           FindReport(line_.reports.front())->document != nullptr;
  const bool for_people = !dump && !is_document && line_.format == Format::kText;
  PrintableBuffer printable(out);
  std::ostream printable_out(&printable);
  const absl::Status status = dump ? Dump(out) : WriteReports(for_people ? printable_out : out);
  TellProblems();
  if (!status.ok()) {
    // Wrong input is InvalidArgument too, but only reports know their columns.
    const bool usage = std::string(status.message()).starts_with("--");
    return fail(status, usage ? kExitUsage : kExitInputOutput);
  }
  out.flush();
  if (!out) {
    return fail(absl::UnavailableError(
                    StrCat("cannot write ", line_.output.empty() ? "the output" : line_.output)),
                kExitInputOutput);
  }
  return kExitDone;
}

}  // namespace

int RunPostProcessor(absl::Span<const std::string_view> args, Environment& environment) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) {
    PrintableBuffer printable(environment.err);
    std::ostream(&printable) << "jtrace-post: " << line.status().message() << '\n';
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
  return Pipeline(*line, environment).Run();
}

}  // namespace jtrace::postproc
