#include "postproc/ship/converter.h"

#include <signal.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "postproc/ship/child_program.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

// The last line is the error; those before it are warnings.
std::string LastLine(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

Delivery OfEnd(const ChildEnd& end) {
  constexpr int kCannotRun = 127;
  constexpr absl::Duration kUntilMemory = absl::Seconds(10);
  const std::string message = LastLine(end.output);
  if (end.exit_code == 0) return {.message = message};
  if (end.exit_code == kCannotRun) {
    return {.outcome = Delivery::Outcome::kLater,
            .message = "jtrace-post is not beside jtrace: install both"};
  }
  // The labels and options are this program's; the output is about the disk, not the trace.
  if (end.exit_code == postproc::kExitUsage || end.exit_code == postproc::kExitOutput) {
    return {.outcome = Delivery::Outcome::kLater, .message = message};
  }
  // The service manager, or Ctrl-C, ends both.
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) {
    if (end.exit_code != 128 + each) continue;
    return {.outcome = Delivery::Outcome::kLater, .message = "jtrace-post was ended"};
  }
  // The system's memory is short, or a container's; a trace that needs too much is refused in the
  // end.
  if (end.exit_code == 128 + SIGKILL || end.exit_code == postproc::kExitMemory) {
    return {.outcome = Delivery::Outcome::kLater,
            .message = end.exit_code == 128 + SIGKILL
                           ? "jtrace-post was killed: is there too little memory?"
                           : message,
            .wait = kUntilMemory,
            .is_broken = true};
  }
  const std::string how = end.exit_code > 128 ? StrCat("jtrace-post was ended by signal ",
                                                       end.exit_code - 128, "; please report this")
                                              : message;
  return {.outcome = Delivery::Outcome::kRefused, .message = how};
}

}  // namespace

Delivery Converter::Convert(const SealedTrace& trace, const std::string& report,
                            const std::vector<std::string>& options, const std::string& output,
                            StopSignal& stop) const {
  std::vector<std::string> command = {post_processor, StrCat("--report=", report), "--jobs=1"};
  command.insert(command.end(), options.begin(), options.end());
  for (const std::string& label : labels) command.push_back(StrCat("--label=", label));
  command.insert(command.end(), {"-o", output, "--", trace.path});
  const absl::StatusOr<ChildEnd> end = RunChild(command, longest, stop, is_private);
  if (end.ok()) return OfEnd(*end);
  const std::string message(end.status().message());
  if (absl::IsCancelled(end.status())) return {.outcome = Delivery::Outcome::kStopped};
  if (absl::IsDeadlineExceeded(end.status())) {
    return {.outcome = Delivery::Outcome::kRefused,
            .message = StrCat("jtrace-post took longer than ", absl::FormatDuration(longest))};
  }
  return {.outcome = Delivery::Outcome::kLater, .message = message};
}

}  // namespace jtrace::ship
