// The units of measures in the formats of other tools.
#pragma once

#include <cstdint>
#include <string_view>

#include "postproc/calltree/measure.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

struct ExportUnit {
  // "count", "ticks", "nanoseconds", "microseconds", "milliseconds", "bytes"
  std::string_view name;
  int64_t ns = 0;  // that 1 means; 0: not known, or it is not a time
};

ExportUnit UnitOf(const Measure& measure, const TraceModel& model);

}  // namespace jtrace::postproc
