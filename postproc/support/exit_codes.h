// What jtrace-post and jtrace end with: the numbers, their meanings for help and documents, and
// which error has which.
#pragma once

#include <cstdlib>
#include <string>

#include "absl/status/status.h"

namespace jtrace::postproc {

enum ExitCode : int {
  kExitDone = 0,
  kExitUsage = 1,
  kExitInputOutput = 2,  // of jtrace: not done
  kExitRule = 3,         // a --fail-on rule is broken
  // In place of kExitInputOutput, for `jtrace ship`.
  kExitOutput = 4,
  kExitMemory = 5,  // the machine's, not what a trace may take
};

// `jtrace ship` sets this variable for jtrace-post.
inline constexpr char kRunByShip[] = "JTRACE_POST_FOR_SHIP";
inline bool IsRunByShip() { return std::getenv(kRunByShip) != nullptr; }

enum class Program { kPost, kJtrace, kFleet, kShip };

// The end of a program's --help: "exit codes: 0 done …", a line each.
std::string ExitCodesHelp(Program program);

// Of jtrace-post, by the error's kind (error_kind.h).
ExitCode ExitCodeOf(const absl::Status& status);
// Of jtrace, for which InvalidArgument is wrong usage.
ExitCode JtraceExitCodeOf(const absl::Status& status);

}  // namespace jtrace::postproc
