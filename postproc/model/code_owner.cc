#include "postproc/model/code_owner.h"

#include <algorithm>

#include "common/jdk_packages.h"

namespace jtrace::postproc {
namespace {

CodeOwner OwnerOfJava(const TraceModel& model, RoutineId routine) {
  const std::string_view name = model.RoutineName(routine);
  if (model.scope().contains(routine)) return CodeOwner::kProgram;
  if (IsJdkClass(name)) return CodeOwner::kJdk;
  return model.scope().empty() ? CodeOwner::kProgram : CodeOwner::kLibrary;
}

// Of a routine without frames.
CodeOwner OwnerByName(const TraceModel& model, RoutineId routine) {
  if (model.IsHooked(routine)) return CodeOwner::kNative;
  const RoutineKind kind = model.TraitsOf(routine).kind;
  const bool is_event = IsEvent(kind) || kind == RoutineKind::kPark;
  const std::string_view name = model.RoutineName(routine);
  if (!FileOfUnnamed(name).empty()) return CodeOwner::kNative;
  if (is_event || name.starts_with('[')) return CodeOwner::kOther;
  return OwnerOfJava(model, routine);
}

}  // namespace

std::string_view CodeOwnerName(CodeOwner kind) {
  constexpr std::string_view kNames[kCodeOwners] = {"program", "library", "jdk",  "native",
                                                    "jvm",     "kernel",  "other"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<CodeOwner> CodeOwners(const TraceModel& model) {
  std::vector<CodeOwner> kinds(model.routine_count() + 1, CodeOwner::kOther);
  for (uint32_t i = 1; i < kinds.size(); ++i) kinds[i] = OwnerByName(model, RoutineId(i));
  for (uint32_t i = 1; i <= model.frame_count(); ++i) {
    const Frame& frame = model.frame(FrameId(i));
    CodeOwner& kind = kinds[frame.routine.value];
    const bool is_marker =
        model.RoutineName(frame.routine).starts_with('[') && kind == CodeOwner::kOther;
    if (model.scope().contains(frame.routine) || IsJava(frame.origin) || is_marker) continue;
    if (frame.origin == Origin::kVm) kind = CodeOwner::kJvm;
    if (frame.origin == Origin::kNative) kind = CodeOwner::kNative;
    if (frame.origin == Origin::kKernel) kind = CodeOwner::kKernel;
  }
  return kinds;
}

std::string_view FileOfUnnamed(std::string_view routine) {
  const size_t plus = routine.rfind("+0x");
  if (!routine.starts_with('[') || !routine.ends_with(']') || plus == std::string_view::npos) {
    return {};
  }
  return routine.substr(1, plus - 1);
}

}  // namespace jtrace::postproc
