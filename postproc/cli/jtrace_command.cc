#include "postproc/cli/jtrace_command.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iomanip>

#include "absl/strings/str_join.h"
#include "common/visible_text.h"
#include "postproc/cli/agent_client.h"
#include "postproc/cli/attach.h"
#include "postproc/cli/fleet_command.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/cli/metrics_answer.h"
#include "postproc/cli/metrics_text.h"
#include "postproc/cli/named_trace.h"
#include "postproc/cli/own_files.h"
#include "postproc/cli/progress_view.h"
#include "postproc/cli/root_folder.h"
#include "postproc/cli/run_command.h"
#include "postproc/cli/ship_command.h"
#include "postproc/cli/ship_options.h"
#include "postproc/cli/start_options.h"
#include "postproc/cli/web_command.h"
#include "postproc/input/command_line.h"
#include "postproc/report/shorten.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"
#include "postproc/support/terminal.h"
#include "postproc/version.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

// Width of a program that list shows.
constexpr int kListedProgram = 100;
constexpr int kThreadsShown = 40;  // by metrics; the others are summed
constexpr Patience kListPatience = {std::chrono::seconds(2), std::chrono::seconds(2)};

// A form of an answer that programs read: that form defines its own escapes.
bool IsForPrograms(const CommandLine& line) {
  return line.verb == "metrics" && line.metrics_format != "text";
}

// The terminal's, if stdout is one.
size_t OutputColumns() {
  constexpr int kUsual = 100;
  const int columns = postproc::TerminalColumns(STDOUT_FILENO);
  return static_cast<size_t>(columns > 0 ? columns : kUsual);
}

class Jtrace {
 public:
  Jtrace(const CommandLine& line, std::ostream& out, std::ostream& err)
      : line_(line), out_(out), err_(err), progress_(err, isatty(STDERR_FILENO) != 0) {}

  int Run();

 private:
  int Fail(const absl::Status& status);
  int List();
  std::string ListedState(const JvmProcess& jvm);
  int Report(const JvmProcess& jvm);
  int Web(const JvmProcess& jvm);
  // Sends a request to the agent; `answer` collects its lines.
  int Request(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
              std::vector<std::string>& answer);
  int RequestAndPrint(const JvmProcess& jvm, std::string_view argument);
  int Metrics(const JvmProcess& jvm);
  absl::Status BringAgent(const JvmProcess& jvm);
  const CommandLine& line_;
  std::ostream& out_;
  std::ostream& err_;
  ProgressView progress_;
};

int Jtrace::Fail(const absl::Status& status) {
  progress_.End();
  std::string message(status.message());  // the JVM's texts may contain line breaks
  std::replace(message.begin(), message.end(), '\n', ' ');
  err_ << "jtrace: " << VisibleText(message) << '\n';
  return postproc::JtraceExitCodeOf(status);
}

absl::Status Jtrace::BringAgent(const JvmProcess& jvm) {
  if (HasAgent(jvm)) return absl::OkStatus();
  const std::string library = line_.library.empty() ? FindOwnLibrary() : line_.library;
  if (library.empty()) {
    return absl::NotFoundError("libjtrace.so is not beside jtrace; name it with --lib=PATH");
  }
  if (!OpenInRoot(jvm.root, library, O_RDONLY | O_NONBLOCK).ok()) {
    return absl::NotFoundError(
        StrCat("JVM ", jvm.pid, " cannot see ", library,
               "; copy it (and lib/jtrace) into its container and name it with --lib=PATH"));
  }
  progress_.Show("attaching");
  if (absl::Status status = LoadAgent(jvm, library, "serve"); !status.ok()) return status;
  if (!HasAgent(jvm)) {
    return absl::UnavailableError(StrCat("the agent in JVM ", jvm.pid,
                                         " cannot be reached: it runs with control=off, or ",
                                         SocketFolder(jvm.inner_user), " is not its folder"));
  }
  return absl::OkStatus();
}

int Jtrace::Request(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
                    std::vector<std::string>& answer) {
  const auto take = [&](char kind, std::string_view text) {
    if (kind == kProgressLine) return progress_.Show(text);
    progress_.End();
    if (kind == kNoteLine) err_ << "jtrace: " << VisibleText(text) << std::endl;
    if (kind == kAnswerLine) answer.emplace_back(text);
    if (kind == kErrorLine) err_ << "jtrace: " << VisibleText(text) << '\n';
  };
  const absl::StatusOr<int> code = Ask(jvm, verb, argument, take);
  progress_.End();
  if (code.ok()) return *code;
  if (absl::IsNotFound(code.status())) {
    return Fail(absl::NotFoundError(
        StrCat("JVM ", jvm.pid, " is not recording; begin with: jtrace start ", jvm.pid)));
  }
  return Fail(code.status());
}

int Jtrace::RequestAndPrint(const JvmProcess& jvm, std::string_view argument) {
  std::vector<std::string> answer;
  const int code = Request(jvm, line_.verb, argument, answer);
  // Programs that read a format get it unchanged.
  const bool as_it_is = IsForPrograms(line_) && isatty(STDOUT_FILENO) == 0;
  for (const std::string& text : answer) out_ << (as_it_is ? text : VisibleText(text)) << '\n';
  return code;
}

// A JVM that hangs must not keep the others out of the list.
std::string Jtrace::ListedState(const JvmProcess& jvm) {
  std::string first;
  const auto take = [&](char kind, std::string_view text) {
    if (kind == kAnswerLine && first.empty()) first = text;
  };
  const absl::StatusOr<int> code = Ask(jvm, "status", "", take, kListPatience);
  if (absl::IsDeadlineExceeded(code.status())) return "hangs";
  if (!code.ok()) return "-";  // it does not let us connect
  return first.find("recording") != std::string::npos ? "recording" : "agent";
}

int Jtrace::List() {
  for (const JvmProcess& jvm : ProcessTable().List()) {
    out_ << std::left << std::setw(9) << jvm.pid << std::setw(11) << ListedState(jvm)
         << postproc::Shorten(jvm.program, kListedProgram) << '\n';
  }
  return kExitDone;
}

// jtrace-post replaces this process.
int Jtrace::Report(const JvmProcess& jvm) {
  std::vector<std::string> answer;
  if (const int code = Request(jvm, "flush", "", answer); code != kExitDone) return code;
  const absl::StatusOr<std::string> trace = OpenNamedTrace(jvm, answer);
  if (!trace.ok()) return Fail(trace.status());
  std::vector<std::string> command = {OwnPostProcessor()};
  command.insert(command.end(), line_.rest.begin(), line_.rest.end());
  command.push_back(*trace);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  out_.flush();
  execv(arguments[0], arguments.data());
  return Fail(absl::NotFoundError(StrCat("cannot run ", command[0], ": ", strerror(errno))));
}

// Until Ctrl-C.
int Jtrace::Web(const JvmProcess& jvm) {
  const absl::StatusOr<WebOptions> options = ReadWebOptions(line_.rest);
  const absl::Status status =
      options.ok() ? ServePage(jvm, *options, out_, err_) : options.status();
  return status.ok() ? kExitDone : Fail(status);
}

// The agent's answer for programs as it is; for people a table as wide as the terminal.
int Jtrace::Metrics(const JvmProcess& jvm) {
  if (absl::Status status = BringAgent(jvm); !status.ok()) return Fail(status);
  if (line_.metrics_format != "text") {
    return RequestAndPrint(jvm, StrCat("--format=", line_.metrics_format));
  }
  std::vector<std::string> lines;
  const int code =
      Request(jvm, line_.verb, StrCat("--format=json --threads=", kThreadsShown), lines);
  if (code != kExitDone) return code;
  const absl::StatusOr<MetricsAnswer> answer = ParseMetricsAnswer(absl::StrJoin(lines, "\n"));
  if (!answer.ok()) return Fail(answer.status());
  out_ << MetricsAsText(*answer, line_.columns != 0 ? line_.columns : OutputColumns());
  return kExitDone;
}

int Jtrace::Run() {
  if (line_.verb == "list") return List();
  const absl::StatusOr<JvmProcess> jvm = ProcessTable().Resolve(line_.target);
  if (!jvm.ok()) return Fail(jvm.status());
  if (line_.verb == "report") return Report(*jvm);
  if (line_.verb == "web") return Web(*jvm);
  if (line_.verb == "metrics") return Metrics(*jvm);
  if (line_.verb != "start") {
    const std::vector<std::string_view> words(line_.rest.begin(), line_.rest.end());
    return RequestAndPrint(*jvm, postproc::Join(words, line_.verb == "hook" ? ";" : " "));
  }
  if (absl::Status status = BringAgent(*jvm); !status.ok()) return Fail(status);
  return RequestAndPrint(*jvm, StartOptions(line_));
}

}  // namespace

int RunJtrace(absl::Span<const std::string_view> args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) {
    err << "jtrace: " << VisibleText(std::string(line.status().message())) << '\n';
    return kExitUsage;
  }
  if (line->help) {
    out << (line->verb == "start"   ? StartHelpText()
            : line->verb == "web"   ? WebHelpText()
            : line->verb == "fleet" ? FleetHelpText()
            : line->verb == "ship"  ? ShipHelpText()
                                    : HelpText());
    return kExitDone;
  }
  if (line->version) {
    out << "jtrace " << postproc::kVersion << '\n';
    return kExitDone;
  }
  if (line->verb == "run") return RunUnderAgent(*line, out, err);
  if (line->verb == "fleet") return RunFleet(*line, out, err);
  if (line->verb == "ship") return RunShip(*line, out, err);
  if (line->verb == "env") return PrintEnvironment(*line, out, err);
  return Jtrace(*line, out, err).Run();
}

}  // namespace jtrace::control
