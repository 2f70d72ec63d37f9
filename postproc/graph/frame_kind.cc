#include "postproc/graph/frame_kind.h"

namespace jtrace::postproc {
namespace {

FrameKind KindOf(Origin origin) {
  switch (origin) {
    case Origin::kInterpreted:
    case Origin::kCompiled:
    case Origin::kInlined:
      return FrameKind::kJava;
    case Origin::kNative:
      return FrameKind::kNative;
    case Origin::kVm:
      return FrameKind::kVm;
    case Origin::kKernel:
      return FrameKind::kKernel;
    case Origin::kNone:
      break;
  }
  return FrameKind::kOther;
}

}  // namespace

std::string_view FrameKindName(FrameKind kind) {
  switch (kind) {
    case FrameKind::kJava:
      return "java";
    case FrameKind::kNative:
      return "native";
    case FrameKind::kVm:
      return "vm";
    case FrameKind::kKernel:
      return "kernel";
    case FrameKind::kOther:
      break;
  }
  return "";
}

std::vector<FrameKind> SampledFrameKinds(const TraceModel& model) {
  std::vector<FrameKind> kinds(model.routine_count() + 1, FrameKind::kOther);
  for (uint32_t i = 1; i <= model.frame_count(); ++i) {
    const Frame& frame = model.frame(FrameId(i));
    const FrameKind kind = KindOf(frame.origin);
    if (kind != FrameKind::kOther) kinds[frame.routine.value] = kind;
  }
  return kinds;
}

}  // namespace jtrace::postproc
