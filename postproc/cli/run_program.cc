#include "postproc/cli/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_split.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

constexpr std::string_view kOut = "out=";
constexpr std::string_view kVariable = "JAVA_TOOL_OPTIONS=";

// The value of out=; "": there is none.
std::string OutOf(std::string_view options) {
  std::string out;
  for (const std::string& option :
       std::vector<std::string>(absl::StrSplit(std::string(options), ','))) {
    if (std::string_view(option).starts_with(kOut)) out = option.substr(kOut.size());
  }
  return out;
}

// The names that the agent may make of out=: * for each of %p, %t, %n and %{NAME}.
std::string GlobOf(std::string_view out) {
  std::string glob;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '%' && i + 1 < out.size()) {
      ++i;
      if (out[i] == '{') i = std::min(out.find('}', i), out.size() - 1);
      glob += '*';
    } else {
      if (std::string_view("*?[\\").find(out[i]) != std::string_view::npos) glob += '\\';
      glob += out[i];
    }
  }
  return glob;
}

// The program that runs now, for the handler below; 0: none.
volatile pid_t running = 0;

void PassOn(int signal) {
  if (running > 0) kill(running, signal);
}

// Signals while a program runs, as they were before when this ends.
class SignalsOfRun {
 public:
  SignalsOfRun() {
    Set(SIGINT, SIG_IGN);
    Set(SIGQUIT, SIG_IGN);
    Set(SIGTERM, &PassOn);
    Set(SIGHUP, &PassOn);
  }
  ~SignalsOfRun() { Restore(); }
  SignalsOfRun(const SignalsOfRun&) = delete;
  SignalsOfRun& operator=(const SignalsOfRun&) = delete;

  void Restore() {
    for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
  }

 private:
  void Set(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    struct sigaction old = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, &old);
    before_.emplace_back(signal, old);
  }
  std::vector<std::pair<int, struct sigaction>> before_;
};

[[noreturn]] void Execute(const ProgramStart& start, int failed) {
  std::vector<std::string> command = start.command;
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string variable = start.variable;
  if (!variable.empty()) putenv(variable.data());
  execvp(arguments[0], arguments.data());
  const int error = errno;
  // The reader takes no answer for success.
  if (write(failed, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

absl::StatusOr<int> Wait(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for the program");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ProgramStart WithAgent(absl::Span<const std::string> command, std::string_view agent,
                       std::string_view tool_options) {
  ProgramStart start{.command = {command.begin(), command.end()}, .variable = ""};
  if (std::filesystem::path(command.front()).filename() == "java") {
    start.command.insert(start.command.begin() + 1, StrCat("-agentpath:", agent));
  } else {
    start.variable =
        StrCat(kVariable, "-agentpath:", agent, tool_options.empty() ? "" : " ", tool_options);
  }
  return start;
}

absl::StatusOr<std::string> ToolOptions(std::string_view library, std::string_view options) {
  std::string value = StrCat("-agentpath:", library, options.empty() ? "" : "=", options);
  if (value.find_first_of(" \t'\"") != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("JVMs split JAVA_TOOL_OPTIONS at spaces and read quotes in it: ", value));
  }
  return value;
}

bool NamesTrace(std::string_view options) { return !OutOf(options).empty(); }

std::string WithTraceName(std::string_view options, std::string_view now) {
  if (NamesTrace(options)) return std::string(options);
  return StrCat(options, options.empty() ? "" : ",", kOut, std::filesystem::current_path().string(),
                "/jtrace-", now, ".%p.bin");
}

std::vector<std::filesystem::path> WrittenTraces(std::string_view options,
                                                 std::filesystem::file_time_type begin) {
  glob_t found = {};
  const absl::Cleanup free = [&found] { globfree(&found); };
  if (glob(GlobOf(OutOf(options)).c_str(), GLOB_NOSORT, nullptr, &found) != 0) return {};
  std::vector<std::pair<uintmax_t, std::filesystem::path>> traces;
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    std::error_code error;
    const std::filesystem::path path = found.gl_pathv[i];
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const auto written = std::filesystem::last_write_time(path, error);
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (!error && written >= begin && size > 0) traces.emplace_back(size, path);
  }
  std::sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::filesystem::path> paths;
  for (auto& [size, path] : traces) paths.push_back(std::move(path));
  return paths;
}

absl::StatusOr<int> RunAndWait(const ProgramStart& start) {
  int failed[2];
  if (pipe2(failed, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot start the program");
  SignalsOfRun signals;
  const pid_t pid = fork();
  if (pid == 0) {
    signals.Restore();
    Execute(start, failed[1]);
  }
  running = pid;
  close(failed[1]);
  int error = 0;
  const ssize_t answer = read(failed[0], &error, sizeof error);
  close(failed[0]);
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start the program");
  absl::StatusOr<int> code = Wait(pid);
  running = 0;
  if (answer > 0)
    return absl::NotFoundError(StrCat("cannot run ", start.command.front(), ": ", strerror(error)));
  return code;
}

}  // namespace jtrace::control
