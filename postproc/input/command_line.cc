#include "postproc/input/command_line.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/input/all_reports.h"
#include "postproc/report/tree_view.h"
#include "postproc/support/memory_limit.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Reports and formats of the contract that this program does not support.
constexpr std::string_view kUnavailable[] = {"source", "lcov"};

// With less, not even an empty trace can be read.
constexpr uint64_t kLeastMemory = uint64_t{64} << 20;

bool IsOneOf(std::string_view word, absl::Span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

absl::Status BadValue(std::string_view option, std::string_view value,
                      absl::Span<const std::string_view> valid) {
  if (IsOneOf(value, kUnavailable)) {
    return absl::InvalidArgumentError(StrCat(
        option, ": '", value, "' is not available in this version; valid: ", Join(valid, " ")));
  }
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
  for (const Report& report : AllReports()) names.push_back(report.name);
  names.push_back("diff");
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

absl::Status SetColour(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--color", value, {"auto", "always", "never"});
  if (!choice.ok()) return choice.status();
  constexpr Colour kColours[] = {Colour::kAuto, Colour::kAlways, Colour::kNever};
  line.colour = kColours[*choice];
  return absl::OkStatus();
}

absl::Status SetAggregate(std::string_view value, CommandLine& line) {
  const absl::StatusOr<size_t> choice = Choose("--aggregate", value, {"thread", "process"});
  if (!choice.ok()) return choice.status();
  line.aggregate = *choice == 0 ? Aggregate::kThread : Aggregate::kProcess;
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
  const absl::StatusOr<size_t> choice = Choose("--widths", value, ArcWidthNames());
  if (!choice.ok()) return choice.status();
  line.report.widths = static_cast<ArcWidths>(*choice);
  return absl::OkStatus();
}

absl::Status AddFailRule(std::string_view value, CommandLine& line) {
  absl::StatusOr<FailRule> rule = ParseFailRule(value);
  if (!rule.ok()) return rule.status();
  line.fail_rules.push_back(*std::move(rule));
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

template <bool CommandLine::*Member>
absl::Status SetFlag(std::string_view, CommandLine& line) {
  line.*Member = true;
  return absl::OkStatus();
}

struct Option {
  std::string_view name;
  std::string_view value;  // its value; empty: it takes none
  std::string_view help;
  std::string_view example;
  absl::Status (*set)(std::string_view value, CommandLine& line);
};

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
    {"--root", "ROUTINE", "a virtual root: only the tree below that routine",
     "--root=org.h2.Driver.connect", SetReportText<&ReportOptions::root>},
    {"--of", "ROUTINE", "the routine that callees and callers are about", "--of=malloc",
     SetReportText<&ReportOptions::of>},
    {"--scope", "full|app", "all sampled frames, or only the application's (default full)",
     "--scope=app", SetScope},
    {"--filter", "PERCENT", "leave out items below that share of the whole", "--filter=0.5",
     SetFilter},
    {"--widths", "none|linear|logarithmic|adaptive",
     "graph, dot: how an arc's width follows its share of the whole (default adaptive)",
     "--widths=linear", SetWidths},
    {"--sort", "COLUMN", "sort by that column; tree: siblings; 'first': by first appearance",
     "--sort=calls", SetReportText<&ReportOptions::sort>},
    {"--top", "N", "only the first N rows, routines or lines", "--top=20", SetTop},
    {"--metric", "M",
     "the measure of reports, graphs and exports: calls ticks time off, or a metric",
     "--metric=alloc.bytes", SetReportText<&ReportOptions::metric>},
    {"--aggregate", "thread|process", "a tree for each thread, or one for each process",
     "--aggregate=process", SetAggregate},
    {"--fail-on", "RULE", "diff: exit with 3 if the rule is broken; may be repeated",
     "--fail-on='calls>5%@org.h2.**'", AddFailRule},
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

const Option* FindOption(std::string_view name) {
  if (name == "--output") name = "-o";
  if (name == "-h") name = "--help";
  for (const Option& option : kOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

absl::Status UnknownOption(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) names.push_back(option.name);
  return absl::InvalidArgumentError(
      StrCat("unknown option '", name, "'; nearest: ", Nearest(name, names)));
}

// Reports that are not about nodes of the tree, and where their readers find a metric.
constexpr std::pair<std::string_view, std::string_view> kWithoutMetric[] = {
    {"html", "the page has a menu of all measures"},
    {"modules",
     "metrics are those of Java methods, which are in no module; --report=classes has them by "
     "class"},
    {"samples", "it lists samples; --report=paths has metrics by path"},
    {"hooks", "it is about calls of native functions; --report=flat has metrics by routine"},
    {"waits", "it is about samples of waiting threads; --report=flat has metrics by routine"},
    {"jit", "it is about calls of compiled code; --report=arcflow has metrics by caller"},
    {"never", "methods that never ran have no metrics; --report=classes has them by class"},
};

// An option that a report does not use is rejected: it would seem to apply.
absl::Status CheckUsed(std::string_view report, const ReportOptions& options) {
  const bool is_page = report == "html";
  const bool is_picture = is_page || report == "dot";
  const auto refuse = [&](std::string_view option, std::string_view instead) {
    return absl::InvalidArgumentError(StrCat(option, ": ", report, " does not use it; ", instead));
  };
  if (!options.metric.empty()) {
    for (const auto& [name, instead] : kWithoutMetric) {
      if (report == name) return refuse("--metric", instead);
    }
  }
  if (is_page && options.filter_percent > 0) return refuse("--filter", "the page has a filter");
  if (is_picture && options.top > 0) return refuse("--top", "--report=flat has rows to count");
  if (is_picture && !options.sort.empty()) return refuse("--sort", "--report=flat can be sorted");
  return absl::OkStatus();
}

// Rules for more than one option.
absl::Status CheckTogether(const CommandLine& line) {
  if (line.traces.empty()) {
    return absl::InvalidArgumentError("no trace given: jtrace-post [options] TRACE… (see --help)");
  }
  if (line.guards_formulas && line.format != Format::kCsv) {
    return absl::InvalidArgumentError("--spreadsheet needs --format=csv: add that option");
  }
  for (const std::string& name : line.reports) {
    const Report* report = FindReport(name);
    if (report != nullptr && report->needs_of && line.report.of.empty()) {
      return absl::InvalidArgumentError(
          StrCat("--report=", name, " needs --of=ROUTINE, e.g. ", report->example));
    }
    if (report != nullptr && report->is_file() && line.reports.size() > 1) {
      return absl::InvalidArgumentError(
          StrCat("--report=", name, " is one file by itself: request no other report with it"));
    }
    const ReportOptions& chosen = line.report;
    if (report != nullptr && report->stream != nullptr &&
        (chosen.top > 0 || chosen.filter_given || !chosen.metric.empty())) {
      return absl::InvalidArgumentError(StrCat(
          "--report=", name, " has every record: --filter, --top and --metric do not apply"));
    }
    if (name == "diff" && (line.reports.size() > 1 || line.traces.size() != 2)) {
      return absl::InvalidArgumentError(
          "--report=diff takes two traces, before and after, and no other report");
    }
    if (name == "dump" && line.traces.size() > 1) {
      return absl::InvalidArgumentError("--report=dump takes one trace");
    }
  }
  for (const std::string& name : line.reports) {
    if (absl::Status status = CheckUsed(name, line.report); !status.ok()) return status;
  }
  constexpr std::string_view kOfWholeSamples[] = {"functions", "modules", "samples", "callees",
                                                  "callers",   "waits",   "metrics", "hooks"};
  for (const std::string& name : line.reports) {
    if (line.report.root.empty() || !IsOneOf(name, kOfWholeSamples)) continue;
    return absl::InvalidArgumentError(
        StrCat("--root: ", name, " is about all records; tree, flat, arcflow, graph take a root"));
  }
  for (const FailRule& rule : line.fail_rules) {
    if (rule.what != FailRule::What::kMetric || !line.report.metric.empty()) continue;
    return absl::InvalidArgumentError(StrCat("--fail-on=", rule.text, " needs --metric=M"));
  }
  if (!line.fail_rules.empty() && line.reports != std::vector<std::string>{"diff"}) {
    return absl::InvalidArgumentError("--fail-on needs --report=diff BEFORE AFTER");
  }
  return absl::OkStatus();
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
  for (const Option& option : kOptions) {
    const std::string usage = option.value.empty()  ? std::string(option.name)
                              : option.name == "-o" ? "-o FILE"
                                                    : StrCat(option.name, "=", option.value);
    const int padding = std::max(1, 28 - DisplayWidth(usage));
    absl::StrAppendFormat(&help, "  %s%*s%s\n%30s e.g. %s\n", usage, padding, "", option.help, "",
                          option.example);
  }
  help += "\nreports\n";
  for (const Report& report : AllReports()) {
    absl::StrAppendFormat(&help, "  %-10s %s\n%13s e.g. %s\n", report.name, report.description, "",
                          report.example);
  }
  help +=
      "  diff       two traces: exact differences of calls, differences of ticks beyond chance\n"
      "              e.g. jtrace-post --report=diff --fail-on='calls>0' before.bin after.bin\n\n"
      "exit codes: 0 done (a damaged tail and skipped records are reported on stderr)\n"
      "            1 wrong usage\n"
      "            2 input unreadable, not a trace or too large, or the output cannot be written\n"
      "            3 a --fail-on rule is broken\n";
  return help;
}

}  // namespace jtrace::postproc
