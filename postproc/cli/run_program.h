// jtrace run: starts a program with the agent, and reports on what it recorded.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace jtrace::control {

// A program to start, as execvp(3) and its environment take it.
struct ProgramStart {
  std::vector<std::string> command;
  // NAME=VALUE to add; "": none.
  std::string variable;
};

// The agent in the program's command line if that starts `java` itself; otherwise, for scripts that
// start it, in JAVA_TOOL_OPTIONS, before what is already there. `agent`: LIBRARY=OPTIONS.
ProgramStart WithAgent(absl::Span<const std::string> command, std::string_view agent,
                       std::string_view tool_options);

// The value of JAVA_TOOL_OPTIONS that loads the agent. InvalidArgument: the library's path, or an
// option, has a space or a quote; a JVM would split it.
absl::StatusOr<std::string> ToolOptions(std::string_view library, std::string_view options);

// Whether the agent's options have out=.
bool NamesTrace(std::string_view options);

// `options` with out=, which they may lack: then a file of the current folder that no other run
// writes. InvalidArgument: the folder's name cannot be in an option.
absl::StatusOr<std::string> WithTraceName(std::string_view options, std::string_view now);

// The traces that out= of `options` stands for and that were written since `begin`; the largest
// first.
std::vector<std::filesystem::path> WrittenTraces(std::string_view options,
                                                 std::filesystem::file_time_type begin);

// Starts a program and waits for it. SIGTERM and SIGHUP are passed on; SIGINT and SIGQUIT of the
// terminal reach it anyway and do not end this process. Returns its exit code, 128 + N if signal N
// ended it. NotFound: it cannot be executed. For a process with one thread.
absl::StatusOr<int> RunAndWait(const ProgramStart& start);

}  // namespace jtrace::control
