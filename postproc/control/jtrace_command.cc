#include "postproc/control/jtrace_command.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iomanip>

#include "postproc/command_line.h"
#include "postproc/control/agent_client.h"
#include "postproc/control/attach.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"
#include "proto/control_protocol.h"
#include "proto/nearest.h"

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
    {"start", "JVM [OPTION=VALUE …]", "begin a recording; the options are the agent's",
     "jtrace start 4711 out=/tmp/a.bin include=com.acme.**", true},
    {"stop", "JVM", "end it: the trace is complete, no probe stays in the program",
     "jtrace stop 4711", false},
    {"resume", "JVM", "begin another one with the same options, into a file of its own",
     "jtrace resume 4711", false},
    {"report", "JVM [OPTION …]", "reports on what was recorded so far; options of jtrace-post",
     "jtrace report 4711 --report=flat --top=20", true},
    {"dump", "JVM", "write everything now; with loop=, go on in a new file", "jtrace dump 4711",
     false},
    {"status", "JVM", "what is recorded, how much, and what was lost", "jtrace status 4711", false},
    {"metrics", "JVM [--format=…]",
     "what threads have counted, as text, json or prometheus; needs no recording",
     "jtrace metrics 4711 --format=json", true},
    {"hook", "JVM [OBJECT!FUNCTION[:count|unwind|time|off] …]",
     "hook native functions while they run; without a function, list the hooks",
     "jtrace hook 4711 'libc.so.6!malloc:count'", true},
    {"mark", "JVM TEXT", "put a labelled mark into the trace", "jtrace mark 4711 'warm-up ends'",
     true},
    {"list", "", "the JVMs of this user, and which of them record", "jtrace list", false},
};

// Characters of a program that list shows.
constexpr size_t kListedProgram = 100;
constexpr std::chrono::seconds kListPatience(2);

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

// `-d 30`, `-d=30`, `--lib=…` of jtrace itself; false if `arg` is none of these.
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
  return Usage(StrCat("no option '", arg, "' here (see jtrace --help)"));
}

absl::Status Check(const CommandLine& line, const Verb& verb) {
  if (verb.arguments.empty() && !line.target.empty()) {
    return Usage(StrCat(verb.name, " takes nothing more: '", line.target, "'"));
  }
  if (line.target.empty() && !verb.arguments.empty()) {
    return Usage(StrCat(verb.name, " needs a JVM: its pid or a part of its name, e.g. ",
                        verb.example, " (see jtrace list)"));
  }
  if (!line.rest.empty() && !verb.takes_rest) {
    return Usage(StrCat(verb.name, " takes nothing more: '", line.rest.front(), "'"));
  }
  if (verb.name == "mark" && line.rest.empty()) {
    return Usage(StrCat("mark needs a text, e.g. ", verb.example));
  }
  return absl::OkStatus();
}

std::filesystem::path OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

// The agent beside us: in the build tree and in every installed one.
std::string FindLibrary() {
  std::error_code error;
  for (const char* place : {"../lib/libjtrace.so", "../lib64/libjtrace.so",
                            "../lib/x86_64-linux-gnu/libjtrace.so", "libjtrace.so"}) {
    const auto path = std::filesystem::weakly_canonical(OwnFolder() / place, error);
    if (!error && std::filesystem::exists(path, error)) return path.string();
  }
  return "";
}

class Jtrace {
 public:
  Jtrace(const CommandLine& line, std::ostream& out, std::ostream& err)
      : line_(line), out_(out), err_(err) {}

  int Run();

 private:
  int Fail(const absl::Status& status);
  int List();
  std::string ListedState(const JvmProcess& jvm);
  int Report(const JvmProcess& jvm);
  // Sends a request to the agent; `answer` collects its lines.
  int Request(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
              std::vector<std::string>& answer);
  int RequestAndPrint(const JvmProcess& jvm, std::string_view argument);
  int Metrics(const JvmProcess& jvm);
  absl::Status BringAgent(const JvmProcess& jvm);
  void ShowProgress(std::string_view text);
  void EndProgress();

  const CommandLine& line_;
  std::ostream& out_;
  std::ostream& err_;
  bool shows_progress_ = false;
};

int Jtrace::Fail(const absl::Status& status) {
  EndProgress();
  err_ << "jtrace: " << std::string(status.message()) << '\n';
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

void Jtrace::ShowProgress(std::string_view text) {
  if (isatty(STDERR_FILENO) == 0) return;
  shows_progress_ = true;
  err_ << "\r\x1b[K" << text << std::flush;
}

void Jtrace::EndProgress() {
  if (std::exchange(shows_progress_, false)) err_ << "\r\x1b[K" << std::flush;
}

absl::Status Jtrace::BringAgent(const JvmProcess& jvm) {
  if (HasAgent(jvm)) return absl::OkStatus();
  const std::string library = line_.library.empty() ? FindLibrary() : line_.library;
  if (library.empty()) {
    return absl::NotFoundError("libjtrace.so is not beside jtrace; name it with --lib=PATH");
  }
  if (access((jvm.root + library).c_str(), R_OK) != 0) {
    return absl::NotFoundError(
        StrCat("JVM ", jvm.pid, " cannot see ", library,
               "; copy it (and lib/jtrace) into its container and name it with --lib=PATH"));
  }
  ShowProgress("attaching");
  if (absl::Status status = LoadAgent(jvm, library, "serve"); !status.ok()) return status;
  if (!HasAgent(jvm)) {
    return absl::UnavailableError(StrCat("the agent in JVM ", jvm.pid,
                                         " cannot be reached: it runs with control=off, or ",
                                         SocketFolder(jvm.inner_user), " is not its own"));
  }
  return absl::OkStatus();
}

int Jtrace::Request(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
                    std::vector<std::string>& answer) {
  const auto take = [&](char kind, std::string_view text) {
    if (kind == kProgressLine) return ShowProgress(text);
    EndProgress();
    if (kind == kAnswerLine) answer.emplace_back(text);
    if (kind == kErrorLine) err_ << "jtrace: " << text << '\n';
  };
  const absl::StatusOr<int> code = Ask(jvm, verb, argument, take);
  EndProgress();
  if (code.ok()) return *code;
  if (absl::IsNotFound(code.status())) {
    return Fail(absl::NotFoundError(
        StrCat("JVM ", jvm.pid, " records nothing; begin with: jtrace start ", jvm.pid)));
  }
  return Fail(code.status());
}

int Jtrace::RequestAndPrint(const JvmProcess& jvm, std::string_view argument) {
  std::vector<std::string> answer;
  const int code = Request(jvm, line_.verb, argument, answer);
  for (const std::string& text : answer) out_ << text << '\n';
  return code;
}

// One JVM that hangs must not keep the others out of the list.
std::string Jtrace::ListedState(const JvmProcess& jvm) {
  std::string first;
  const auto take = [&](char kind, std::string_view text) {
    if (kind == kAnswerLine && first.empty()) first = text;
  };
  const absl::StatusOr<int> code = Ask(jvm, "status", "", take, kListPatience);
  if (absl::IsDeadlineExceeded(code.status())) return "hangs";
  if (!code.ok()) return "-";  // it does not let us in
  return first.find("recording") != std::string::npos ? "recording" : "agent";
}

int Jtrace::List() {
  for (const JvmProcess& jvm : ProcessTable().List()) {
    std::string state = "-";
    if (HasAgent(jvm)) state = ListedState(jvm);
    out_ << std::left << std::setw(9) << jvm.pid << std::setw(11) << state
         << jvm.program.substr(0, kListedProgram) << '\n';
  }
  return kExitDone;
}

// jtrace-post takes over; it finds a container's trace under the container's root.
int Jtrace::Report(const JvmProcess& jvm) {
  std::vector<std::string> answer;
  if (const int code = Request(jvm, "flush", "", answer); code != kExitDone) return code;
  if (answer.empty()) return Fail(absl::UnavailableError("the agent named no file"));
  std::vector<std::string> command = {(OwnFolder() / "jtrace-post").string()};
  command.insert(command.end(), line_.rest.begin(), line_.rest.end());
  command.push_back(jvm.root + answer[0]);
  std::vector<char*> arguments;
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  out_.flush();
  execv(arguments[0], arguments.data());
  return Fail(absl::NotFoundError(StrCat("cannot run ", command[0], ": ", strerror(errno))));
}

// As wide as the terminal, if it is one.
int Jtrace::Metrics(const JvmProcess& jvm) {
  if (absl::Status status = BringAgent(jvm); !status.ok()) return Fail(status);
  std::string options;
  winsize size = {};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col != 0) {
    options = StrCat("--columns=", size.ws_col, " ");
  }
  const std::vector<std::string_view> words(line_.rest.begin(), line_.rest.end());
  return RequestAndPrint(jvm, StrCat(options, postproc::Join(words, " ")));
}

int Jtrace::Run() {
  if (line_.verb == "list") return List();
  const absl::StatusOr<JvmProcess> jvm = ProcessTable().Resolve(line_.target);
  if (!jvm.ok()) return Fail(jvm.status());
  if (line_.verb == "report") return Report(*jvm);
  if (line_.verb == "metrics") return Metrics(*jvm);
  if (line_.verb != "start") {
    const std::vector<std::string_view> words(line_.rest.begin(), line_.rest.end());
    return RequestAndPrint(*jvm, postproc::Join(words, line_.verb == "hook" ? ";" : " "));
  }
  if (absl::Status status = BringAgent(*jvm); !status.ok()) return Fail(status);
  return RequestAndPrint(*jvm, AgentOptions(line_));
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args) {
  CommandLine line;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    // What follows the target of a report belongs to jtrace-post, what follows a mark's to its
    // text; the agent knows formats.
    const bool is_foreign = !line.target.empty() && (line.verb == "report" || line.verb == "mark" ||
                                                     line.verb == "metrics");
    if (is_foreign) {
      line.rest.emplace_back(arg);
    } else if (arg == "--help" || arg == "-h" || (arg == "help" && line.verb.empty())) {
      line.help = true;
      return line;
    } else if (arg == "--version") {
      line.version = true;
      return line;
    } else if (line.verb.empty()) {
      line.verb = arg;
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
      "jtrace: recordings in JVMs that run already\n\n"
      "usage: jtrace COMMAND [JVM] [OPTION …]\n"
      "JVM is a pid, or a part of the main class or jar that one JVM only has (here, if several "
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
      "  -d TIME                      with start: stop after this time (duration=)\n"
      "                               e.g. jtrace start -d 30 4711\n"
      "  --lib=PATH                   the agent as the JVM sees it (default: beside jtrace)\n"
      "                               e.g. jtrace start --lib=/opt/jtrace/lib/libjtrace.so 4711\n"
      "  --help, --version\n\n"
      "Options of the agent are listed by java -agentpath:…/libjtrace.so=help; out= is relative "
      "to\n"
      "the JVM's folder. A JVM lets its own user and root attach. JDK 21 and later warn on stderr\n"
      "when an agent comes late; -XX:+EnableDynamicAgentLoading says that this is meant.\n\n"
      "exit codes: 0 done · 1 wrong usage · 2 the JVM cannot be reached, or refused\n";
  return help;
}

int RunJtrace(absl::Span<const std::string_view> args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) {
    err << "jtrace: " << std::string(line.status().message()) << '\n';
    return kExitUsage;
  }
  if (line->help) {
    out << HelpText();
    return kExitDone;
  }
  if (line->version) {
    out << "jtrace " << postproc::kVersion << '\n';
    return kExitDone;
  }
  return Jtrace(*line, out, err).Run();
}

}  // namespace jtrace::control
