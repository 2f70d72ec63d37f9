// The command line of `jtrace`: its verbs and their arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace jtrace::control {

struct CommandLine {
  std::string verb;
  std::string target;             // pid, or a part of the program's name
  std::vector<std::string> rest;  // the verb's own
  std::string library;            // --lib=
  std::string duration;           // -d
  bool probes = false;            // --probes, --all
  bool all = false;               // --all
  // Of metrics: "text", "json" or "prometheus", and the width of text; 0: the terminal's.
  std::string metrics_format = "text";
  size_t columns = 0;
  // Of run: what follows "--", jtrace-post's options, and whether the report is a page.
  std::vector<std::string> program;
  std::vector<std::string> report_options;
  bool open_page = false;
  bool help = false;
  bool version = false;
};

// InvalidArgument, one line with the nearest verb, if it is invalid.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args);

// The agent's options as they are given to start, run and env: the arguments after the target,
// joined.
std::string AgentOptions(const CommandLine& line);

std::string HelpText();

}  // namespace jtrace::control
