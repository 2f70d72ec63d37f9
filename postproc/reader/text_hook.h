// Calls of hooked native functions in a text trace: "hook" with its fields (proto/FORMAT.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc::text {

// "calls=9,timed=2,total=300,min=100,max=200"; the times only if calls were timed.
std::string HookSumsText(const HookSums& sums);

// A HookRecord with the objects of its path.
class HookFields {
 public:
  // `args`: the fields after the op, unescaped: NAME, KIND, CALLER or empty, sums, and the path.
  // `places`: TakePlace of each of them. Adds the hook to the trace. None if they are malformed.
  static std::optional<HookFields> Parse(absl::Span<const std::string> args,
                                         absl::Span<const CallSite> places, TraceInfo& trace,
                                         TraceModel& model);

  // Valid as long as this object exists and does not move.
  HookRecord record() const {
    HookRecord record = record_;
    record.path = path_;
    record.jumped = jumped_;
    return record;
  }

 private:
  HookRecord record_;
  std::vector<PathStep> path_;
  std::vector<FrameId> jumped_;
};

}  // namespace jtrace::postproc::text
