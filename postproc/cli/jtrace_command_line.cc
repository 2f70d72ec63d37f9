#include "postproc/cli/jtrace_command_line.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/nearest.h"
#include "postproc/cli/start_options.h"
#include "postproc/cli/web_command.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrAppend;
using postproc::StrCat;

struct Verb {
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
  std::string_view example;
  bool takes_rest;
};

constexpr Verb kVerbs[] = {
    {"run", "[OPTION=VALUE …] -- PROGRAM …",
     "run a program with the agent, then report on it; takes options of jtrace-post",
     "jtrace run -- java -jar app.jar", true},
    {"env", "[OPTION=VALUE …]", "print the variable that loads the agent into every JVM",
     "export $(jtrace env mode=samples)", true},
    {"start", "JVM [OPTION=VALUE …]",
     "begin a recording, of samples without mode= or --probes; the options are the agent's",
     "jtrace start 4711 out=/tmp/a.bin (see jtrace start --help)", true},
    {"stop", "JVM", "end it: the trace is complete, and no probe stays in the program",
     "jtrace stop 4711", false},
    {"resume", "JVM", "begin another one with the same options, into a separate file",
     "jtrace resume 4711", false},
    {"report", "JVM [OPTION …]", "reports on the recording so far; takes options of jtrace-post",
     "jtrace report 4711 --report=flat --top=20", true},
    {"web", "JVM [--port=N] [OPTION …]",
     "serve the page of the recording so far on this machine, made anew while it is looked at; "
     "takes "
     "options of jtrace-post",
     "jtrace web 4711", true},
    {"dump", "JVM", "write everything now; with loop=, go on in a new file", "jtrace dump 4711",
     false},
    {"status", "JVM", "what is recorded, how much, and what was lost", "jtrace status 4711", false},
    {"metrics", "JVM [--format=…]",
     "the threads' counters, as text, json or prometheus; needs no recording",
     "jtrace metrics 4711 --format=json", true},
    {"hook", "JVM [OBJECT!FUNCTION[:count|unwind|time|off] …]",
     "hook native functions while they run; without a function, list the hooks",
     "jtrace hook 4711 'libc.so.6!malloc:count'", true},
    {"mark", "JVM TEXT", "put a labelled mark into the trace", "jtrace mark 4711 'warm-up ends'",
     true},
    {"fleet", "QUERY [OPTION …]", "answers from the tables of many runs, on DuckDB",
     "jtrace fleet top --data=data (see jtrace fleet --help)", true},
    {"ship", "DIR --to=TARGET [OPTION …]",
     "turn the traces that JVMs leave in a folder into tables, or send them to servers",
     "jtrace ship /var/traces --to=parquet:data (see jtrace ship --help)", true},
    {"list", "", "the JVMs of this user, and which of them are recording", "jtrace list", false},
};

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

absl::Status Usage(const std::string& message) { return absl::InvalidArgumentError(message); }

absl::Status UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& verb : kVerbs) names.push_back(verb.name);
  return Usage(StrCat("unknown command '", name, "'; did you mean '", Nearest(name, names),
                      "'? (see jtrace --help)"));
}

// `-d 30`, `-d=30`, `--lib=…` of jtrace itself; false if `arg` is another.
bool TakeOption(absl::Span<const std::string_view> args, size_t& i, CommandLine& line) {
  std::string_view arg = args[i];
  const auto value = [&](std::string_view name, std::string& into) {
    if (arg == name && i + 1 < args.size()) {
      into = args[++i];
      return true;
    }
    const bool has_value = arg.starts_with(StrCat(name, "="));
    if (has_value) into = arg.substr(name.size() + 1);
    return has_value;
  };
  return value("-d", line.duration) || value("--lib", line.library);
}

absl::Status UnknownOption(std::string_view arg) {
  return Usage(StrCat("unknown option '", arg, "' here (see jtrace --help)"));
}

// Commands that start JVMs, or print how.
bool StartsJvms(std::string_view verb) { return verb == "run" || verb == "env"; }

absl::Status Check(const CommandLine& line, const Verb& verb) {
  if (StartsJvms(verb.name)) {
    if (line.open_page && !line.report_options.empty()) {
      return Usage(StrCat("--open writes the page, without ", line.report_options.front(),
                          "; use one of them"));
    }
    if (verb.name == "env" || !line.program.empty()) return absl::OkStatus();
    return Usage(StrCat("run needs -- and a program, e.g. ", verb.example));
  }
  if (verb.arguments.empty() && !line.target.empty()) {
    return Usage(StrCat(verb.name, " takes no further argument: '", line.target, "'"));
  }
  if (line.target.empty() && verb.name == "ship") {
    return Usage(
        "ship needs the folder of the traces, e.g. jtrace ship /var/traces --to=parquet:data");
  }
  if (line.target.empty() && verb.name == "fleet") {
    return Usage(StrCat("fleet needs a query, e.g. ", verb.example));
  }
  if (line.target.empty() && !verb.arguments.empty()) {
    return Usage(StrCat(verb.name, " needs a JVM: its pid or a part of its name, e.g. ",
                        verb.example, " (see jtrace list)"));
  }
  if (!line.rest.empty() && !verb.takes_rest) {
    return Usage(StrCat(verb.name, " takes no further argument: '", line.rest.front(), "'"));
  }
  if (verb.name == "mark" && line.rest.empty()) {
    return Usage(StrCat("mark needs a text, e.g. ", verb.example));
  }
  return verb.name == "start" ? CheckStart(line) : absl::OkStatus();
}

// Commands whose arguments after the target are not jtrace's own: of a report and a page they are
// jtrace-post's, of a mark its text; those of metrics, fleet and ship are read later.
bool TakesForeign(std::string_view verb) {
  return verb == "report" || verb == "web" || verb == "mark" || verb == "metrics" ||
         verb == "fleet" || verb == "ship";
}

// An argument of run or env; false if `arg` is none.
bool TakeOfStart(absl::Span<const std::string_view> args, size_t& i, CommandLine& line) {
  const std::string_view arg = args[i];
  if (TakeOption(args, i, line)) return true;
  if (line.verb == "run" && arg == "--") {
    for (++i; i < args.size(); ++i) line.program.emplace_back(args[i]);
  } else if (line.verb == "run" && arg == "--open") {
    line.open_page = true;
  } else if (line.verb == "run" && arg.starts_with("--")) {
    line.report_options.emplace_back(arg);
  } else if (!arg.starts_with("-") && arg.find('=') != std::string_view::npos) {
    line.rest.emplace_back(arg);
  } else {
    return false;
  }
  return true;
}

absl::Status NotOfStart(std::string_view verb, std::string_view arg) {
  if (verb == "run" && !arg.starts_with("-")) {
    return Usage(StrCat("'", arg,
                        "' is not an OPTION=VALUE; write -- before the program: jtrace run -- ",
                        arg, " …"));
  }
  return UnknownOption(arg);
}

// "--format=text|json|prometheus --columns=N", each may be missing.
absl::Status ReadMetricsOptions(CommandLine& line) {
  constexpr std::string_view kFormat = "--format=";
  constexpr std::string_view kColumns = "--columns=";
  for (const std::string& option : line.rest) {
    const std::string_view text = option;
    if (text.starts_with(kFormat)) {
      line.metrics_format = text.substr(kFormat.size());
      if (line.metrics_format != "text" && line.metrics_format != "json" &&
          line.metrics_format != "prometheus") {
        return Usage(
            StrCat("unknown format '", line.metrics_format, "': text, json or prometheus"));
      }
    } else if (!text.starts_with(kColumns) ||
               !absl::SimpleAtoi(option.substr(kColumns.size()), &line.columns)) {
      return Usage(StrCat("metrics takes --format=text|json|prometheus and --columns=NUMBER, not '",
                          text, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args) {
  CommandLine line;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const bool asks_for_help =
        (line.verb == "web" || line.verb == "fleet" || line.verb == "ship") && arg == "--help";
    // NOLINTNEXTLINE(bugprone-branch-clone): the last branch, too, but only after all others.
    if (!line.target.empty() && TakesForeign(line.verb) && !asks_for_help) {
      line.rest.emplace_back(arg);
    } else if (arg == "--help" || arg == "-h" || (arg == "help" && line.verb.empty())) {
      line.help = true;
      return line;
    } else if (arg == "--version") {
      line.version = true;
      return line;
    } else if (line.verb.empty()) {
      line.verb = arg;
    } else if (StartsJvms(line.verb)) {
      if (!TakeOfStart(args, i, line)) return NotOfStart(line.verb, arg);
    } else if (line.verb == "start" && (arg == "--probes" || arg == "--all")) {
      line.probes = true;
      line.all |= arg == "--all";
    } else if (line.verb == "start" && TakeOption(args, i, line)) {
      continue;
    } else if (arg.starts_with("-")) {
      return UnknownOption(arg);
    } else if (line.target.empty()) {
      line.target = arg;
    } else {
      line.rest.emplace_back(arg);
    }
  }
  if (line.verb.empty()) return Usage("no command given: jtrace COMMAND JVM … (see jtrace --help)");
  const Verb* const verb = FindVerb(line.verb);
  if (verb == nullptr) return UnknownVerb(line.verb);
  if (absl::Status status = Check(line, *verb); !status.ok()) return status;
  if (line.verb == "metrics") {
    if (absl::Status status = ReadMetricsOptions(line); !status.ok()) return status;
  }
  if (line.verb == "web") {
    if (absl::Status status = ReadWebOptions(line.rest).status(); !status.ok()) return status;
  }
  return line;
}

std::string AgentOptions(const CommandLine& line) {
  std::string options;
  for (const std::string& option : line.rest) {
    StrAppend(&options, options.empty() ? "" : ",", option);
  }
  if (!line.duration.empty()) {
    StrAppend(&options, options.empty() ? "" : ",", "duration=", line.duration);
  }
  return options;
}

std::string HelpText() {
  std::string help =
      "jtrace: records Java programs, and JVMs that run already\n\n"
      "usage: jtrace run -- java …\n"
      "       jtrace COMMAND [JVM] [OPTION …]\n"
      "JVM is a pid, or a part of the main class or jar that only one JVM has (here, if several "
      "do).\n\n"
      "commands\n";
  for (const Verb& verb : kVerbs) {
    std::string usage = StrCat(verb.name, " ", verb.arguments);
    // "…" takes three bytes and one column.
    const size_t hidden = usage.find("…") != std::string::npos ? 2 : 0;
    usage.resize(std::max<size_t>(usage.size(), 28 + hidden), ' ');
    StrAppend(&help, "  ", usage, " ", verb.help, "\n", std::string(31, ' '), "e.g. ", verb.example,
              "\n");
  }
  help +=
      "\noptions\n"
      "  --open                       with run: show the report as a page in the browser\n"
      "                               e.g. jtrace run --open -- java -jar app.jar\n"
      "  --probes                     with start: count calls, too; of a large program its own\n"
      "                               e.g. jtrace start 4711 --probes\n"
      "  --all                        with start: count the calls of all packages\n"
      "                               e.g. jtrace start 4711 --all\n"
      "  -d TIME                      with start, run, env: stop after this time (duration=)\n"
      "                               e.g. jtrace start -d 30 4711\n"
      "  --port=N                     with web: the port of the page (default: any that is free)\n"
      "                               e.g. jtrace web 4711 --port=8080\n"
      "  --lib=PATH                   the agent as the JVM sees it (default: beside jtrace)\n"
      "                               e.g. jtrace start --lib=/opt/jtrace/lib/libjtrace.so 4711\n"
      "  --help, --version\n\n"
      "Options of the agent are listed by java -agentpath:…/libjtrace.so=help; out= is relative "
      "to\n"
      "the JVM's folder. A JVM lets its own user and root attach. JDK 21 and later warn on stderr\n"
      "when an agent is loaded late; -XX:+EnableDynamicAgentLoading says that this is "
      "intended.\n\n";
  return help + postproc::ExitCodesHelp(postproc::Program::kJtrace);
}

}  // namespace jtrace::control
