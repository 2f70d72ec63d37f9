// --report=parquet: each trace for itself, all into one folder.
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "postproc/input/command_line.h"
#include "postproc/input/trace_input.h"
#include "postproc/model/import_stats.h"

namespace jtrace::postproc {

// `report` gets what is wrong with each trace, `say` what the tables lack of it. An error of one
// trace ends all: no file appears then but those of batches that were full before.
absl::Status WriteTables(const CommandLine& line, const TraceInput& traces,
                         absl::FunctionRef<void(const ImportStats&)> report,
                         absl::FunctionRef<void(std::string_view)> say);

}  // namespace jtrace::postproc
