// --report=parquet: its options.
#pragma once

#include "absl/status/status.h"
#include "postproc/input/command_line.h"

namespace jtrace::postproc {

// The tables have all records of whole traces, so that runs can be added up: options that select
// are rejected, and
// --label without the tables.
absl::Status CheckTables(const CommandLine& line);

}  // namespace jtrace::postproc
