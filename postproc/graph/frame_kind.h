// What sort of code a routine is, as pictures colour it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

enum class FrameKind : uint8_t { kOther, kJava, kNative, kVm, kKernel };
// "java", "native", …; "" for others: frames that tell nothing, and marks such as [no_frames].
std::string_view FrameKindName(FrameKind kind);

// By RoutineId.value: what the frames of samples say. Routines that only events know are kOther.
std::vector<FrameKind> SampledFrameKinds(const TraceModel& model);

}  // namespace jtrace::postproc
