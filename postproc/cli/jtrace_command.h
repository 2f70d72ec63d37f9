// The `jtrace` command: starts, stops and shows recordings in running JVMs.
#pragma once

#include <ostream>
#include <string_view>

#include "absl/types/span.h"
#include "postproc/cli/jtrace_command_line.h"

namespace jtrace::control {

// Exit code: 0 done, 1 wrong usage, 2 the JVM cannot be reached or refused.
int RunJtrace(absl::Span<const std::string_view> args, std::ostream& out, std::ostream& err);

}  // namespace jtrace::control
