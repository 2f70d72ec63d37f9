// What the page shows first: where the measure went, and the program's heaviest methods.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "common/json_writer.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The member "headline", as --report=headline has it. `number_of` is the page's number of a
// routine; -1: it has none.
void WritePageHeadline(const ReportInput& input, absl::FunctionRef<int64_t(RoutineId)> number_of,
                       JsonWriter& json);

}  // namespace jtrace::postproc
