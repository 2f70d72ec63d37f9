// Arcs between counted methods, and what the compiler made of them (S2.6).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "postproc/calltree/jit_log.h"
#include "postproc/report/inline_reason.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

struct HotArc {
  RoutineId caller;
  RoutineId callee;
  int64_t calls = 0;
  int64_t jitted = 0;  // of these, calls whose callee ran compiled
  InliningOfArc inlining;
  std::string_view status;  // "inlined", "partly", "not inlined", …
  InlineReason reason;      // empty if it is inlined everywhere, or nothing can be inlined

  bool is_left_out() const { return status == "not inlined" || status == "partly"; }
};

// By calls descending, then names. Arcs below that share of all their calls have no reason.
std::vector<HotArc> CollectHotArcs(const ReportInput& input, double least_percent = 0);

}  // namespace jtrace::postproc
