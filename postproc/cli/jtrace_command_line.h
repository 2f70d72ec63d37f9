// The command line of `jtrace`: its verbs, and what belongs to each.
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
  std::vector<std::string> rest;  // what belongs to the verb
  std::string library;            // --lib=
  std::string duration;           // -d
  bool help = false;
  bool version = false;
};

// InvalidArgument, one line with the nearest verb, if it makes no sense.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args);

// The agent's options for start: what follows the target, joined.
std::string AgentOptions(const CommandLine& line);

std::string HelpText();

}  // namespace jtrace::control
