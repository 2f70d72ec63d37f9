// read → build → merge → report, with input and output injected.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "postproc/input/environment.h"

namespace jtrace::postproc {

// Runs jtrace-post with these arguments (without the program's name); returns the exit code.
int RunPostProcessor(absl::Span<const std::string_view> args, Environment& environment);

}  // namespace jtrace::postproc
