#include "postproc/input/command_line.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/option_checks.h"
#include "postproc/model/code_owner.h"
#include "postproc/report/shorten.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

absl::Status UnknownOption(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : AllOptions()) names.push_back(option.name);
  return absl::InvalidArgumentError(
      StrCat("unknown option '", name, "'; nearest: ", Nearest(name, names)));
}

absl::Status SetOption(absl::Span<const std::string_view> args, size_t& i, CommandLine& line) {
  const std::string_view arg = args[i];
  const size_t equals = arg.find('=');
  const std::string_view name = arg.substr(0, equals);
  const Option* option = FindOption(name);
  if (option == nullptr) return UnknownOption(name);
  if (option->value.empty()) {
    if (equals == std::string_view::npos) return option->set({}, line);
    return absl::InvalidArgumentError(StrCat(option->name, " takes no value"));
  }
  if (equals != std::string_view::npos) return option->set(arg.substr(equals + 1), line);
  if (i + 1 >= args.size()) {
    return absl::InvalidArgumentError(
        StrCat(option->name, " needs a value, e.g. ", option->example));
  }
  return option->set(args[++i], line);
}

}  // namespace

bool IsDiffPage(const CommandLine& line) {
  std::vector<std::string> names = line.reports;
  std::sort(names.begin(), names.end());
  return names == std::vector<std::string>{"diff", "html"};
}

bool WritesTables(const CommandLine& line) {
  return std::find(line.reports.begin(), line.reports.end(), "parquet") != line.reports.end();
}

bool ComparesTraces(const CommandLine& line) {
  return IsDiffPage(line) || (!line.reports.empty() &&
                              FindReport(line.reports.front())->group == ReportGroup::kComparisons);
}

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args) {
  CommandLine line;
  bool options_ended = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--" && !options_ended) {
      options_ended = true;
    } else if (options_ended || arg.size() < 2 || arg[0] != '-') {
      // `jtrace-post dump TRACE` is `--report=dump`.
      if (arg == "dump" && line.traces.empty() && line.reports.empty() && !options_ended) {
        line.reports.emplace_back("dump");
      } else {
        line.traces.emplace_back(arg);
      }
    } else if (absl::Status status = SetOption(args, i, line); !status.ok()) {
      return status;
    }
  }
  if (line.help || line.version) return line;
  if (line.report.wide && !line.width_given) {
    line.report.width = 0;
    line.width_given = true;
  }
  if (absl::Status status = CheckTogether(line); !status.ok()) return status;
  return line;
}

std::string HelpText() {
  std::string help =
      "jtrace-post: reports from jtrace's traces\n\n"
      "usage: jtrace-post [--report=R[,R…]] [--format=text|csv|json] [-o FILE] [options] TRACE…\n"
      "       jtrace-post dump TRACE          the trace as text\n\n"
      "With no option: a summary, the hottest part of the tree, the flat list and the arc flow.\n"
      "A ROUTINE may omit the parameters: org.h2.Driver.connect or org.h2.Driver::connect.\n\n"
      "options\n";
  for (const Option& option : AllOptions()) {
    const std::string usage = option.value.empty()  ? std::string(option.name)
                              : option.name == "-o" ? "-o FILE"
                                                    : StrCat(option.name, "=", option.value);
    const int padding = std::max(1, 28 - DisplayWidth(usage));
    absl::StrAppendFormat(&help, "  %s%*s%s\n%30s e.g. %s\n", usage, padding, "", option.help, "",
                          option.example);
  }
  help += "\nreports\n";
  const auto add = [&](std::string_view name, std::string_view summary, std::string_view example) {
    absl::StrAppendFormat(&help, "  %-10s %s\n%13s e.g. %s\n", name, summary, "", example);
  };
  for (const Report* report : AllReports()) {
    add(report->name, report->summary, report->example);
    if (report->name != "diff") continue;
    add("diff,html",
        "the same as a page: two traces in one flame graph, routines, callers, callees",
        "jtrace-post --report=diff,html -o diff.html before.bin after.bin");
  }
  return help + "\n" + ExitCodesHelp(Program::kPost);
}

namespace {

// With less, not even an empty trace can be read.
constexpr uint64_t kLeastMemory = uint64_t{64} << 20;

absl::Status BadValue(std::string_view option, std::string_view value,
                      absl::Span<const std::string_view> valid) {
  return absl::InvalidArgumentError(StrCat(option, ": '", value,
                                           "' is unknown; nearest: ", Nearest(value, valid),
                                           " (valid: ", Join(valid, " "), ")"));
}

// The index of `value` among the valid ones.
absl::StatusOr<size_t> Choose(std::string_view option, std::string_view value,
                              absl::Span<const std::string_view> valid) {
  const auto found = std::find(valid.begin(), valid.end(), value);
  if (found == valid.end()) return BadValue(option, value, valid);
  return static_cast<size_t>(found - valid.begin());
}

std::vector<std::string_view> ReportNames() {
  std::vector<std::string_view> names;
  for (const Report* report : AllReports()) names.push_back(report->name);
  return names;
}

absl::Status SetReports(std::string_view value, CommandLine& line) {
  const std::vector<std::string_view> valid = ReportNames();
  for (const std::string_view name : Split(value, ',')) {
    if (!IsOneOf(name, valid)) return BadValue("--report", name, valid);
    line.reports.emplace_back(name);
  }
  return absl::OkStatus();
}

absl::Status SetFormat(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--format", value, {"text", "csv", "json"});
  if (!choice.ok()) return choice.status();
  constexpr Format kFormats[] = {Format::kText, Format::kCsv, Format::kJson};
  line.format = kFormats[*choice];
  return absl::OkStatus();
}

absl::Status SetMerge(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--merge", value, {"chain", "embed", "none"});
  if (!choice.ok()) return choice.status();
  constexpr MergeMode kModes[] = {MergeMode::kChain, MergeMode::kEmbed, MergeMode::kNone};
  line.merge = kModes[*choice];
  return absl::OkStatus();
}

absl::Status SetScope(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--scope", value, {"full", "app"});
  if (!choice.ok()) return choice.status();
  line.scope = *choice == 0 ? Scope::kFull : Scope::kApp;
  return absl::OkStatus();
}

absl::Status SetSites(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--sites", value, {"on", "off"});
  if (!choice.ok()) return choice.status();
  line.sites = *choice == 0;
  return absl::OkStatus();
}

absl::Status SetBy(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--by", value, {"lines", "branches"});
  if (!choice.ok()) return choice.status();
  line.report.by = *choice == 0 ? CoverageBy::kLines : CoverageBy::kBranches;
  line.by_given = true;
  return absl::OkStatus();
}

absl::Status AddSource(std::string_view value, CommandLine& line) {
  if (value.empty()) return absl::InvalidArgumentError("--source: no folder or archive is named");
  line.report.sources.emplace_back(value);
  return absl::OkStatus();
}

absl::Status AddClasses(std::string_view value, CommandLine& line) {
  if (value.empty()) return absl::InvalidArgumentError("--classes: no folder or jar is named");
  line.report.classes.emplace_back(value);
  return absl::OkStatus();
}

absl::Status SetColour(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--color", value, {"auto", "always", "never"});
  if (!choice.ok()) return choice.status();
  constexpr Colour kColours[] = {Colour::kAuto, Colour::kAlways, Colour::kNever};
  line.colour = kColours[*choice];
  return absl::OkStatus();
}

absl::Status SetAggregate(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice =
      Choose("--aggregate", value, {"thread", "group", "process"});
  if (!choice.ok()) return choice.status();
  line.aggregate = static_cast<Aggregate>(*choice);
  return absl::OkStatus();
}

absl::Status SetFilter(std::string_view value, CommandLine& line) {
  std::string_view number = value;
  if (number.ends_with("%")) number.remove_suffix(1);
  double percent = 0;
  if (!ParseDouble(number, percent) || !(percent >= 0 && percent <= 100)) {
    return absl::InvalidArgumentError(
        StrCat("--filter: '", value, "' is not a percentage from 0 to 100"));
  }
  line.report.filter_percent = percent;
  line.report.filter_given = true;
  return absl::OkStatus();
}

absl::Status SetWidths(std::string_view value, CommandLine& line) {
  const std::optional<ArcWidths> widths = ParseArcWidths(value);
  if (widths.has_value()) {
    line.report.widths = *widths;
    return absl::OkStatus();
  }
  if (value.find(':') == std::string_view::npos) {
    return Choose("--widths", value, ArcCurveNames()).status();
  }
  return absl::InvalidArgumentError(StrCat(
      "--widths: '", value,
      "' is not a table such as 1:2,10:5,50:9: rising percentages, pixels above 0 up to 100"));
}

absl::Status SetWidthBy(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--width-by", value, {"total", "self"});
  if (!choice.ok()) return choice.status();
  line.report.widths_by_self = *choice == 1;
  return absl::OkStatus();
}

absl::Status SetOutside(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--outside", value, {"function", "caller"});
  if (!choice.ok()) return choice.status();
  line.report.outside_in_caller = *choice == 1;
  return absl::OkStatus();
}

absl::Status SetFold(std::string_view value, CommandLine& line) {
  std::vector<std::string_view> valid = {"none"};
  for (size_t i = 1; i + 1 < kCodeOwners; ++i) valid.push_back(CodeOwnerName(CodeOwner(i)));
  for (const std::string_view name : Split(value, ',')) {
    const absl::StatusOr<size_t> choice = Choose("--fold", name, valid);
    if (!choice.ok()) return choice.status();
    if (*choice == 0) line.report.folds_chains = false;
    if (*choice > 0) line.report.folded_kinds |= uint32_t{1} << *choice;
  }
  return absl::OkStatus();
}

absl::Status AddFailRule(std::string_view value, CommandLine& line) {
  absl::StatusOr<FailRule> rule = ParseFailRule(value);
  if (!rule.ok()) return rule.status();
  line.fail_rules.push_back(*std::move(rule));
  return absl::OkStatus();
}

absl::Status AddLabel(std::string_view value, CommandLine& line) {
  line.labels_given = true;
  const size_t equals = std::min(value.find('='), value.size());
  // The last one of a kind, as in the tables.
  line.report.labels.insert(line.report.labels.begin(),
                            {std::string(value.substr(0, equals)),
                             std::string(value.substr(std::min(equals + 1, value.size())))});
  return fleet::SetLabel(value, line.labels);
}

absl::Status AddWithLabel(std::string_view value, CommandLine& line) {
  const size_t equals = value.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == value.size()) {
    return absl::InvalidArgumentError(
        StrCat("--with-label: '", value, "' is not KEY=VALUE, such as tenant=acme"));
  }
  line.with_labels.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  return absl::OkStatus();
}

absl::Status SetTop(std::string_view value, CommandLine& line) {
  if (!ParseInteger(value, line.report.top) || line.report.top < 1) {
    return absl::InvalidArgumentError(StrCat("--top: '", value, "' is not a positive number"));
  }
  return absl::OkStatus();
}

absl::Status SetWidth(std::string_view value, CommandLine& line) {
  int64_t width = 0;
  if (!ParseInteger(value, width) || width < 0 || width > 10000) {
    return absl::InvalidArgumentError(
        StrCat("--width: '", value, "' is not a number from 0 to 10000"));
  }
  line.report.width = static_cast<int>(width);
  line.width_given = true;
  return absl::OkStatus();
}

absl::Status SetJobs(std::string_view value, CommandLine& line) {
  constexpr int64_t kMost = 256;
  int64_t jobs = 0;
  if (!ParseInteger(value, jobs) || jobs < 1 || jobs > kMost) {
    return absl::InvalidArgumentError(
        StrCat("--jobs: '", value, "' is not a number from 1 to ", kMost));
  }
  line.jobs = static_cast<int>(jobs);
  return absl::OkStatus();
}

absl::Status SetLimitMemory(std::string_view value, CommandLine& line) {
  const std::optional<uint64_t> size = ParseByteSize(value);
  if (!size.has_value() || *size < kLeastMemory) {
    return absl::InvalidArgumentError(StrCat(
        "--limit-memory: '", value, "' is not a size from 64m on, such as 512m, 8g or 1073741824"));
  }
  line.limit_memory = *size;
  return absl::OkStatus();
}

template <std::string ReportOptions::*Member>
absl::Status SetReportText(std::string_view value, CommandLine& line) {
  line.report.*Member = std::string(value);
  return absl::OkStatus();
}

template <std::string CommandLine::*Member>
absl::Status SetText(std::string_view value, CommandLine& line) {
  line.*Member = std::string(value);
  return absl::OkStatus();
}

template <bool ReportOptions::*Member>
absl::Status SetReportFlag(std::string_view, CommandLine& line) {
  line.report.*Member = true;
  return absl::OkStatus();
}

template <bool CommandLine::*Member>
absl::Status SetFlag(std::string_view, CommandLine& line) {
  line.*Member = true;
  return absl::OkStatus();
}

constexpr Option kOptions[] = {
    {"--report", "R[,R…]", "reports to write, in that order (default: an overview)",
     "--report=tree,flat", SetReports},
    {"--format", "text|csv|json", "form of the output (default text)", "--format=csv", SetFormat},
    {"--spreadsheet", "", "CSV: a ' before text that a spreadsheet would run as a formula",
     "--format=csv --spreadsheet", SetFlag<&CommandLine::guards_formulas>},
    {"-o", "FILE", "write to FILE instead of standard output", "-o report.csv",
     SetText<&CommandLine::output>},
    {"--merge", "chain|embed|none", "how samples join the events' tree (default chain)",
     "--merge=embed", SetMerge},
    {"--thread", "GLOB", "only threads of that name", "--thread='pool-*'",
     SetText<&CommandLine::thread>},
    {"--with-label", "KEY=GLOB",
     "only samples of threads with that label (JTrace.label); calls have none; may be repeated",
     "--with-label=tenant=acme", AddWithLabel},
    {"--root", "ROUTINE", "a virtual root: only the tree below that routine",
     "--root=org.h2.Driver.connect", SetReportText<&ReportOptions::root>},
    {"--of", "ROUTINE",
     "the routine that callees and callers are about; the classes or methods of reports about "
     "lines",
     "--of=malloc", SetReportText<&ReportOptions::of>},
    {"--source", "PLACE",
     "a folder, jar or zip with source files, for annotated source; may be repeated",
     "--source=src/main/java", AddSource},
    {"--classes", "PLACE",
     "a folder or jar of the class path: its classes in scope that were never loaded count as "
     "never "
     "run; may be repeated",
     "--classes=target/classes", AddClasses},
    {"--costs", "FILE", "cycles of bytecode instructions, a line each: idiv 20; others as usual",
     "--costs=cycles.txt", SetReportText<&ReportOptions::costs>},
    {"--blocks", "", "source: the count of each block of a line that has several", "--blocks",
     SetReportFlag<&ReportOptions::blocks>},
    {"--bytecode", "", "source: the instructions of each line, with their counts", "--bytecode",
     SetReportFlag<&ReportOptions::bytecode>},
    {"--by", "lines|branches", "coverage: what is counted (default lines)", "--by=branches", SetBy},
    {"--wide", "", "text: whole names and all columns; coverage: methods, too", "--wide",
     SetReportFlag<&ReportOptions::wide>},
    {"--sites", "on|off",
     "tree, arcs, graph, page, exports: distinguish calls by the calling line, if recorded "
     "(default on)",
     "--sites=off", SetSites},
    {"--scope", "full|app", "all sampled frames, or only the application's (default full)",
     "--scope=app", SetScope},
    {"--outside", "function|caller",
     "calls out of scope (boundary=on): functions of their own, or their caller's self (default "
     "function)",
     "--outside=caller", SetOutside},
    {"--fold", "none|KIND[,KIND…]",
     "sampled frames of these kinds are their caller's self: library jdk native jvm kernel; none: "
     "tree as text: no chain of frames in one line",
     "--fold=jvm,native,jdk", SetFold},
    {"--filter", "PERCENT", "leave out items below that share of the whole", "--filter=0.5",
     SetFilter},
    {"--widths", "none|linear|logarithmic|adaptive|exponential|TABLE",
     "graph, dot: how an arc's width follows its share of the whole (default adaptive); a table: "
     "percent:pixels,…",
     "--widths=1:2,10:5,50:9", SetWidths},
    {"--width-by", "total|self",
     "graph, dot: widths show the time below an arc, or only that of its callee (default total)",
     "--width-by=self", SetWidthBy},
    {"--sort", "COLUMN",
     "sort by that column, as CSV or text calls it; tree: siblings; 'first': by first appearance",
     "--sort=calls", SetReportText<&ReportOptions::sort>},
    {"--top", "N",
     "only the first N rows, routines or lines; tree as text: the N nodes with the most self, and "
     "those above them",
     "--top=20", SetTop},
    {"--metric", "M",
     "the measure of reports, graphs and exports: calls ticks time off, or a metric",
     "--metric=alloc.bytes", SetReportText<&ReportOptions::metric>},
    {"--aggregate", "thread|group|process",
     "a tree for each thread, for threads whose names differ in numbers only, or for each process; "
     "default: group in text, else thread",
     "--aggregate=process", SetAggregate},
    {"--fail-on", "RULE",
     "diff, or a share of coverage: exit with 3 if the rule is broken; may be repeated",
     "--fail-on='calls>5%@org.h2.**'", AddFailRule},
    {"--label", "KEY=VALUE",
     "parquet, otlp, pprof: service, version, host or container of the traces; may be repeated",
     "--label=service=shop --label=version=1.4", AddLabel},
    {"--raw-names", "", "keep the numbers of lambda and hidden classes in names", "--raw-names",
     SetFlag<&CommandLine::raw_names>},
    {"--jobs", "N", "threads that read a binary trace (default: one for each processor)",
     "--jobs=1", SetJobs},
    {"--no-files", "",
     "open no file that a trace names: native frames then have places instead of names",
     "--no-files", SetFlag<&CommandLine::no_files>},
    {"--limit-memory", "SIZE",
     "fail beyond that (default: 1g and 1,024 times the traces, at most 3/4 of the machine's)",
     "--limit-memory=8g", SetLimitMemory},
    {"--width", "N", "columns of text (default: the terminal's, else 120; 0: no limit)",
     "--width=0", SetWidth},
    {"--color", "auto|always|never",
     "colours (default auto: on a terminal, unless NO_COLOR is set)", "--color=never", SetColour},
    {"--help", "", "this text", "--help", SetFlag<&CommandLine::help>},
    {"--version", "", "the version", "--version", SetFlag<&CommandLine::version>},
};

}  // namespace

absl::Span<const Option> AllOptions() { return kOptions; }

const Option* FindOption(std::string_view name) {
  if (name == "--output") name = "-o";
  if (name == "-h") name = "--help";
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace jtrace::postproc
