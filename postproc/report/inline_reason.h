// Why the JIT compiler did not inline a call. The JVM does not report that to agents: it is derived
// from what was inlined, sizes, calls, and the limits of that JVM.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/jit_log.h"
#include "postproc/model/trace_model.h"

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

}  // namespace jtrace::postproc
