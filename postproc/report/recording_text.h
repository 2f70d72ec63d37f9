// What a recording says about itself, as lines of the summary.
#pragma once

#include "postproc/model/trace_model.h"
#include "postproc/report/summary_lines.h"

namespace jtrace::postproc {

// The JVM and the agent, the mode, the cost of the recording, the work of the probe planner,
// totals.
void WriteRecording(const TraceInfo& trace, SummaryLines& lines);
// The cost of the samples' stacks.
void WriteSampling(const TraceInfo& trace, SummaryLines& lines);

}  // namespace jtrace::postproc
