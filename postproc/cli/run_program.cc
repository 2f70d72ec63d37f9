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
#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
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
    const std::string text(absl::StripLeadingAsciiWhitespace(option));
    if (text.starts_with(kOut)) out = text.substr(kOut.size());
  }
  return out;
}

// As a pattern that matches only itself.
std::string Quoted(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// The names that the agent may make of out=: * for %p, %t and %n; %{NAME} is a variable, as the
// agent reads it.
std::string GlobOf(std::string_view out) {
  std::string glob;
  for (size_t i = 0; i < out.size(); ++i) {
    const char next = i + 1 < out.size() ? out[i + 1] : '\0';
    const size_t end = next == '{' ? out.find('}', i) : std::string_view::npos;
    if (out[i] != '%' || next == '\0') {
      glob += Quoted(out.substr(i, 1));
    } else if (end != std::string_view::npos) {
      const std::string_view whole = out.substr(i, end + 1 - i);
      const char* const value = getenv(std::string(whole.substr(2, whole.size() - 3)).c_str());
      glob += Quoted(value == nullptr ? whole : std::string_view(value));
      i = end;
    } else {
      glob += next == '%' ? "%" : "*";
      ++i;
    }
  }
  return glob;
}

// The same with the number or pid that the agent puts before the ending: with loop=, or if the file
// is in use.
std::string WithInfix(const std::string& glob) {
  const size_t name = glob.rfind('/') + 1;
  const size_t dot = glob.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? glob.size() : dot;
  return glob.substr(0, at) + ".*" + glob.substr(at);
}

// Signals while a program runs, as they were before when this ends. Those to pass on are blocked
// and taken by Wait, so that no handler runs.
class SignalsOfRun {
 public:
  SignalsOfRun() {
    Set(SIGINT, SIG_IGN);
    Set(SIGQUIT, SIG_IGN);
    Set(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would take the exit code
    sigemptyset(&taken_);
    for (const int signal : {SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&taken_, signal);
    pthread_sigmask(SIG_BLOCK, &taken_, &mask_before_);
  }
  ~SignalsOfRun() { Restore(); }
  SignalsOfRun(const SignalsOfRun&) = delete;
  SignalsOfRun& operator=(const SignalsOfRun&) = delete;

  // Also in the program's process, before it is executed.
  void Restore() {
    for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  // The next signal that ends the program, or that came because it ended.
  int Take() const { return sigwaitinfo(&taken_, nullptr); }

 private:
  void Set(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    struct sigaction old = {};
    action.sa_handler = handler;
    sigaction(signal, &action, &old);
    before_.emplace_back(signal, old);
  }
  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t taken_;
  sigset_t mask_before_;
};

[[noreturn]] void Execute(const ProgramStart& start, int failed) {
  std::vector<std::string> command = start.command;
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
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

absl::StatusOr<int> Wait(pid_t pid, const SignalsOfRun& signals) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended < 0) return absl::ErrnoToStatus(errno, "cannot wait for the program");
    if (ended == pid) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    const int signal = signals.Take();
    if (signal == SIGTERM || signal == SIGHUP) kill(pid, signal);
  }
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
  if (value.find_first_of(" \t\n\r\v\f'\"") != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("JVMs split JAVA_TOOL_OPTIONS at spaces and read quotes in it: ", value));
  }
  return value;
}

bool NamesTrace(std::string_view options) { return !OutOf(options).empty(); }

absl::StatusOr<std::string> WithTraceName(std::string_view options, std::string_view now) {
  if (NamesTrace(options)) return std::string(options);
  const std::string folder = std::filesystem::current_path().string();
  if (folder.find(',') != std::string::npos) {
    return absl::InvalidArgumentError(
        StrCat("the current folder has a comma in its name, which ends an option; name the trace "
               "with out=: ",
               folder));
  }
  // Two runs of the same second differ by this process's number.
  return StrCat(options, options.empty() ? "" : ",", kOut,
                absl::StrReplaceAll(folder, {{"%", "%%"}}), "/jtrace-", now, "-", getpid(),
                ".%p.bin");
}

std::vector<std::filesystem::path> WrittenTraces(std::string_view options,
                                                 std::filesystem::file_time_type begin) {
  const std::string pattern = GlobOf(OutOf(options));
  glob_t found = {};
  const absl::Cleanup free = [&found] { globfree(&found); };
  const int direct = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  const int flags = GLOB_NOSORT | (direct == 0 ? GLOB_APPEND : 0);
  if (glob(WithInfix(pattern).c_str(), flags, nullptr, &found) != 0 && direct != 0) return {};
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
  for (auto& [size, path] : traces) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(std::move(path));
  }
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
  close(failed[1]);
  int error = 0;
  const ssize_t answer = read(failed[0], &error, sizeof error);
  close(failed[0]);
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start the program");
  absl::StatusOr<int> code = Wait(pid, signals);
  if (answer > 0)
    return absl::NotFoundError(StrCat("cannot run ", start.command.front(), ": ", strerror(error)));
  return code;
}

}  // namespace jtrace::control
