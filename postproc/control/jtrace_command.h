// The `jtrace` command: start, stop and look at recordings in running JVMs.
#pragma once

#include <ostream>
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

// Exit code: 0 done, 1 wrong usage, 2 the JVM cannot be reached or refused.
int RunJtrace(absl::Span<const std::string_view> args, std::ostream& out, std::ostream& err);

}  // namespace jtrace::control
