// --report=parquet: each trace for itself, all into one folder.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "postproc/input/command_line.h"
#include "postproc/input/trace_input.h"
#include "postproc/model/import_stats.h"

namespace jtrace::postproc {

// `report` gets what is wrong with each trace. Traces before one that cannot be read are written.
absl::Status WriteTables(const CommandLine& line, const TraceInput& traces,
                         absl::FunctionRef<void(const ImportStats&)> report);

}  // namespace jtrace::postproc
