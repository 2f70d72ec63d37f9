#include "postproc/cli/run_command.h"

#include <stdlib.h>
#include <time.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/visible_text.h"
#include "postproc/cli/jtrace_command.h"
#include "postproc/cli/own_files.h"
#include "postproc/cli/run_program.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;
namespace fs = std::filesystem;

int Fail(std::ostream& err, std::string_view message, int code = kExitFailed) {
  err << "jtrace: " << VisibleText(message) << '\n';
  return code;
}

int Fail(std::ostream& err, const absl::Status& status) {
  return Fail(err, std::string(status.message()), postproc::JtraceExitCodeOf(status));
}

std::string LibraryOf(const CommandLine& line) {
  return line.library.empty() ? FindOwnLibrary() : line.library;
}

constexpr std::string_view kNoLibrary =
    "libjtrace.so is not beside jtrace; name it with --lib=PATH";

// For the names of traces: the local time to the second.
std::string Now() {
  const time_t seconds = time(nullptr);
  tm parts = {};
  localtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

std::string Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

// 0 if the browser got the page, or none is there to get it.
int OpenPage(const fs::path& trace, std::ostream& out, std::ostream& err) {
  const std::string page = trace.string() + ".html";
  const ProgramStart write{{OwnPostProcessor(), "--report=html", "-o", page, trace.string()}, ""};
  const absl::StatusOr<int> written = RunAndWait(write);
  if (!written.ok()) return Fail(err, written.status());
  if (*written != 0) return *written;
  out << "the page is " << VisibleText(page) << std::endl;
  if (Variable("DISPLAY").empty() && Variable("WAYLAND_DISPLAY").empty()) return 0;
  const absl::StatusOr<int> opened = RunAndWait({{"xdg-open", page}, ""});
  // A system without xdg-open: the page is there, and its name is printed.
  return opened.ok() ? *opened : 0;
}

int Report(const CommandLine& line, const fs::path& trace, std::ostream& out, std::ostream& err) {
  if (line.open_page) return OpenPage(trace, out, err);
  ProgramStart post{{OwnPostProcessor()}, ""};
  post.command.insert(post.command.end(), line.report_options.begin(), line.report_options.end());
  post.command.push_back(trace.string());
  out.flush();
  const absl::StatusOr<int> code = RunAndWait(post);
  return code.ok() ? *code : Fail(err, code.status());
}

}  // namespace

int RunUnderAgent(const CommandLine& line, std::ostream& out, std::ostream& err) {
  const std::string library = LibraryOf(line);
  if (library.empty()) return Fail(err, kNoLibrary);
  const absl::StatusOr<std::string> named = WithTraceName(AgentOptions(line), Now());
  if (!named.ok()) return Fail(err, named.status());
  const std::string& options = *named;
  const ProgramStart start =
      WithAgent(line.program, StrCat(library, "=", options), Variable("JAVA_TOOL_OPTIONS"));
  if (!start.variable.empty()) {
    const absl::StatusOr<std::string> checked = ToolOptions(library, options);
    if (!checked.ok()) return Fail(err, checked.status());
  }
  // Clocks of file systems are coarser.
  const auto begin = fs::file_time_type::clock::now() - std::chrono::seconds(1);
  const absl::StatusOr<int> ended = RunAndWait(start);
  if (!ended.ok()) return Fail(err, ended.status());
  const std::vector<fs::path> traces = WrittenTraces(options, begin);
  if (traces.empty()) {
    const int code = *ended != 0 ? *ended : kExitFailed;
    return Fail(err, "the program left no trace: no JVM was started, or it said above why not",
                code);
  }
  if (traces.size() > 1) {
    err << "jtrace: " << traces.size() << " traces were written; the report is on the largest, "
        << VisibleText(traces.front().string()) << '\n';
  }
  const int reported = Report(line, traces.front(), out, err);
  return *ended != 0 ? *ended : reported;
}

int PrintEnvironment(const CommandLine& line, std::ostream& out, std::ostream& err) {
  const std::string library = LibraryOf(line);
  if (library.empty()) return Fail(err, kNoLibrary);
  std::string options = AgentOptions(line);
  if (!NamesTrace(options))
    options = StrCat(options, options.empty() ? "" : ",", "out=jtrace-%p.bin");
  const absl::StatusOr<std::string> value = ToolOptions(library, options);
  if (!value.ok()) return Fail(err, value.status());
  out << "JAVA_TOOL_OPTIONS=" << *value << '\n';
  return kExitDone;
}

}  // namespace jtrace::control
