#include "postproc/input/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/option_checks.h"
#include "postproc/input/option_table.h"
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

}  // namespace jtrace::postproc
