// A row for each routine of each thread, the threads' roots included (S3.11): FlatProfile, thread
// by thread.
#pragma once

#include <vector>

#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/calltree/measure.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

struct ThreadRow {
  ThreadId thread;
  FlatRow sums;
};

// By base of the measure if --metric chose it, then base_ticks, base and calls descending, then by
// thread and name (a routine before its thread's root).
std::vector<ThreadRow> ThreadProfile(const TraceModel& model, const CallTree& tree,
                                     const TreeTotals& totals, const Measure& measure);

}  // namespace jtrace::postproc
