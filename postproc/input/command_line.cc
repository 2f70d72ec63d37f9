#include "postproc/input/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/diff/line_rules.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/line_selection.h"
#include "postproc/input/option_table.h"
#include "postproc/input/site_selection.h"
#include "postproc/input/table_output.h"
#include "postproc/report/shorten.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

absl::Status UnknownOption(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : AllOptions()) names.push_back(option.name);
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
    {"labels",
     "it is about samples, and metrics have no labels; --report=flat has metrics by routine"},
    {"waits", "it is about samples of waiting threads; --report=flat has metrics by routine"},
    {"io", "its rows are files and peers; --report=tree has java.read.bytes by call path"},
    {"segments", "it is about segments of code; --report=flat has metrics by routine"},
    {"findings", "its rules are about time, calls and waits; --report=flat has metrics by routine"},
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
  if (report == "findings" && !options.sort.empty()) {
    return refuse("--sort", "the greatest share is first");
  }
  return absl::OkStatus();
}

// Coverage is of one trace; the other rules compare two.
absl::Status CheckRules(const CommandLine& line) {
  const bool is_diff = ComparesTraces(line);
  const Report* first = line.reports.empty() ? nullptr : FindReport(line.reports.front());
  const bool is_stream = first != nullptr && first->stream != nullptr;
  for (const FailRule& rule : line.fail_rules) {
    if (!is_diff && !IsCoverageRule(rule)) {
      return absl::InvalidArgumentError("--fail-on needs --report=diff BEFORE AFTER");
    }
    if (is_stream) {
      return absl::InvalidArgumentError(
          StrCat("--fail-on: ", first->name, " computes no coverage; --report=coverage does"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWidths(const CommandLine& line) {
  const bool has_widths = std::any_of(line.reports.begin(), line.reports.end(),
                                      [](const auto& it) { return it == "graph" || it == "dot"; });
  if (line.report.widths_by_self && !has_widths) {
    return absl::InvalidArgumentError("--width-by needs --report=graph or dot");
  }
  return absl::OkStatus();
}

// Rules for a report with others, its options and the traces.
absl::Status CheckReport(const std::string& name, const CommandLine& line) {
  const Report* report = FindReport(name);
  if (report != nullptr && report->needs_of && line.report.of.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--report=", name, " needs --of=ROUTINE, e.g. ", report->example));
  }
  if (report != nullptr && report->is_file() && line.reports.size() > 1 && !IsDiffPage(line)) {
    return absl::InvalidArgumentError(
        StrCat("--report=", name, " is one file by itself: request no other report with it"));
  }
  const ReportOptions& chosen = line.report;
  if (report != nullptr && report->stream != nullptr &&
      (chosen.top > 0 || chosen.filter_given || !chosen.metric.empty())) {
    return absl::InvalidArgumentError(
        StrCat("--report=", name, " has every record: --filter, --top and --metric do not apply"));
  }
  const bool is_alone = line.reports.size() == 1 || IsDiffPage(line);
  if (IsComparison(name) && (!is_alone || line.traces.size() != 2)) {
    return absl::InvalidArgumentError(
        StrCat("--report=", name, " takes two traces, before and after, and no other report",
               name == "diff" ? " but html" : ""));
  }
  if (name == "dump" && line.traces.size() > 1) {
    return absl::InvalidArgumentError("--report=dump takes one trace");
  }
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
    if (absl::Status status = CheckReport(name, line); !status.ok()) return status;
  }
  if (line.format != Format::kText && line.reports == std::vector<std::string>{"markdown"}) {
    return absl::InvalidArgumentError(
        "--format: markdown has one form; --report=diff has rows and columns");
  }
  if (line.format != Format::kText && IsDiffPage(line)) {
    return absl::InvalidArgumentError(
        "--format: diff,html is a page; --report=diff has rows and columns");
  }
  for (const std::string& name : line.reports) {
    if (absl::Status status = CheckUsed(name, line.report); !status.ok()) return status;
  }
  if (absl::Status status = CheckTables(line); !status.ok()) return status;
  if (absl::Status status = CheckWidths(line); !status.ok()) return status;
  if (absl::Status status = CheckLineOptions(line); !status.ok()) return status;
  if (absl::Status status = CheckSiteOptions(line); !status.ok()) return status;
  constexpr std::string_view kOfWholeSamples[] = {"functions", "modules",  "samples", "callees",
                                                  "callers",   "waits",    "metrics", "hooks",
                                                  "io",        "segments", "findings"};
  for (const std::string& name : line.reports) {
    if (line.report.root.empty() || !IsOneOf(name, kOfWholeSamples)) continue;
    return absl::InvalidArgumentError(
        StrCat("--root: ", name, " is about all records; tree, flat, arcflow, graph take a root"));
  }
  const auto& names = line.reports;
  if (line.scope == Scope::kApp &&
      std::find(names.begin(), names.end(), "findings") != names.end()) {
    return absl::InvalidArgumentError(
        "--scope=app: findings are also about code of others; leave that option out");
  }
  for (const FailRule& rule : line.fail_rules) {
    if (rule.what != FailRule::What::kMetric || !line.report.metric.empty()) continue;
    return absl::InvalidArgumentError(StrCat("--fail-on=", rule.text, " needs --metric=M"));
  }
  return CheckRules(line);
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

bool IsComparison(std::string_view report) { return report == "diff" || report == "markdown"; }

bool IsDiffPage(const CommandLine& line) {
  std::vector<std::string> names = line.reports;
  std::sort(names.begin(), names.end());
  return names == std::vector<std::string>{"diff", "html"};
}

bool WritesTables(const CommandLine& line) {
  return std::find(line.reports.begin(), line.reports.end(), "parquet") != line.reports.end();
}

bool ComparesTraces(const CommandLine& line) {
  return IsDiffPage(line) || (!line.reports.empty() && IsComparison(line.reports.front()));
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
  for (const Report& report : AllReports()) {
    absl::StrAppendFormat(&help, "  %-10s %s\n%13s e.g. %s\n", report.name, report.description, "",
                          report.example);
  }
  help +=
      "  diff       two traces: exact differences of calls, differences of ticks beyond chance\n"
      "              e.g. jtrace-post --report=diff --fail-on='calls>0' before.bin after.bin\n"
      "  diff,html  the same as a page: two traces in one flame graph, routines, callers, callees\n"
      "              e.g. jtrace-post --report=diff,html -o diff.html before.bin after.bin\n"
      "  markdown   the same, shorter, as a comment for a pull request\n"
      "              e.g. jtrace-post --report=markdown -o comment.md before.bin after.bin\n"
      "  parquet    a folder of Parquet tables, for the questions of many runs (jtrace fleet)\n"
      "              e.g. jtrace-post --report=parquet -o data --label=service=shop trace.bin\n\n";
  return help + ExitCodesHelp(Program::kPost);
}

}  // namespace jtrace::postproc
