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

// A HookRecord with what its path refers to.
class HookFields {
 public:
  // `args`: the fields behind the op, unescaped: NAME, KIND, CALLER or empty, sums, and the path.
  // Tells the trace of the hook. None if they are not written so.
  static std::optional<HookFields> Parse(absl::Span<const std::string> args, TraceInfo& trace,
                                         TraceModel& model);

  // Valid as long as this is, where it is.
  HookRecord record() const {
    HookRecord record = record_;
    record.path = path_;
    return record;
  }

 private:
  HookRecord record_;
  std::vector<RoutineId> path_;
};

}  // namespace jtrace::postproc::text
