#include "postproc/support/exit_codes.h"

#include <string_view>

#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::postproc {
namespace {

struct Meanings {
  ExitCode code;
  std::string_view of[4];  // by Program; empty: it has none
};

// Texts of several lines are indented as help is.
constexpr Meanings kMeanings[] = {
    {kExitDone,
     {"done (a damaged tail and skipped records are reported on stderr)", "done", "done",
      "ended by SIGTERM, or with --once everything is shipped"}},
    {kExitUsage, {"wrong usage", "wrong usage", "wrong usage", "wrong usage"}},
    {kExitInputOutput,
     {"input unreadable, not a trace or too large, or the output cannot be written",
      "the JVM cannot be reached or refused; of run: it left no trace. Otherwise the code of\n"
      "              run is the program's.",
      "the engine or the tables cannot be read, or check found tables that do not agree",
      "it cannot begin, or with --once something waits, was dropped, or cannot be read"}},
    {kExitRule, {"a --fail-on rule is broken"}},
};

// An agent's answer ends with the code of the command.
static_assert(kExitDone == static_cast<ExitCode>(control::kExitDone));
static_assert(kExitUsage == static_cast<ExitCode>(control::kExitUsage));
static_assert(kExitInputOutput == static_cast<ExitCode>(control::kExitFailed));

}  // namespace

std::string ExitCodesHelp(Program program) {
  std::string help;
  for (const Meanings& meanings : kMeanings) {
    const std::string_view meaning = meanings.of[static_cast<size_t>(program)];
    if (meaning.empty()) continue;
    StrAppend(&help, help.empty() ? "exit codes: " : "            ",
              static_cast<int>(meanings.code), " ", meaning, "\n");
  }
  return help;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitDone;
  switch (KindOf(status)) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kOutput:
      return IsRunByShip() ? kExitOutput : kExitInputOutput;
    case ErrorKind::kMemory:
      return IsRunByShip() ? kExitMemory : kExitInputOutput;
    case ErrorKind::kOther:
      break;
  }
  return kExitInputOutput;
}

ExitCode JtraceExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitDone;
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitInputOutput;
}

}  // namespace jtrace::postproc
