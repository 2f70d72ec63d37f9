// The answer to `metrics` as tables for a terminal. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "postproc/cli/metrics_answer.h"

namespace jtrace::control {

// The process's totals to the last digit, then threads, the busiest first, in rounded numbers. No
// line is wider than `columns` (at least 60); metrics that do not fit follow in a table of their
// own. Nothing in it is a command to the terminal.
std::string MetricsAsText(MetricsAnswer answer, size_t columns);

}  // namespace jtrace::control
