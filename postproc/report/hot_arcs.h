// Arcs between counted methods, and what the compiler made of them (S2.6).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/jit_log.h"
#include "postproc/model/trace_model.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// -XX flags as the JVM had them; of several traces, those of the first that has them.
class InlineLimits {
 public:
  explicit InlineLimits(const TraceModel& model) : model_(model) {}
  // `otherwise`: what HotSpot has by default.
  double Get(std::string_view flag, double otherwise) const;

 private:
  const TraceModel& model_;
};

// Classes whose methods of one name a caller calls, with their shares of these calls.
struct Receiver {
  std::string_view class_name;
  double percent = 0;
};

// What is known of an arc.
struct ArcFacts {
  CompiledRoutine callee;
  int64_t calls = 0;
  double per_call = 0;              // calls of the arc by one call of the caller
  std::vector<Receiver> receivers;  // most calls first; one if the callee is not virtual
  std::vector<NotInlined> places;   // where it is not inlined
};

struct InlineReason {
  std::string_view reason;  // "too big", …; "unknown"
  std::string detail;       // the figures
  std::string_view remedy;

  // "derived", "unknown", or "" without a reason.
  std::string_view basis() const;
  bool IsSame(const InlineReason& other) const {
    return reason == other.reason && detail == other.detail;
  }
};

InlineReason WhyNotInlined(const InlineLimits& limits, const ArcFacts& arc);

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
