// The units that formats of other tools know measures by.
#pragma once

#include <cstdint>
#include <string_view>

#include "postproc/calltree/measure.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

struct ExportUnit {
  // "count", "ticks", "nanoseconds", "microseconds", "milliseconds", "bytes"
  std::string_view name;
  int64_t ns = 0;  // that 1 stands for; 0: not known, or it is no time
};

ExportUnit UnitOf(const Measure& measure, const TraceModel& model);

}  // namespace jtrace::postproc
