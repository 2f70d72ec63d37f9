#include "postproc/report/program_code.h"

#include <string>

#include "common/jdk_packages.h"
#include "postproc/report/frame_kinds.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

ProgramCode::ProgramCode(const ReportInput& input)
    : model_(input.model),
      kinds_(FrameKinds(input)),
      probe_(input.model.FindRoutine("[jtrace probe]")) {
  for (size_t i = 1; i <= model_.frame_count(); ++i) {
    const Frame& frame = model_.frame(FrameId(static_cast<uint32_t>(i)));
    if (frame.module) modules_.try_emplace(frame.routine, frame.module);
  }
}

bool ProgramCode::IsProgram(RoutineId routine) const {
  if (std::string_view("JCIE").find(KindOf(routine)) == std::string_view::npos) return false;
  if (!model_.scope().empty()) return model_.scope().contains(routine);
  return !IsJdkClass(model_.RoutineName(routine));
}

bool ProgramCode::IsAgent(RoutineId routine) const {
  const char kind = KindOf(routine);
  return (kind == 'N' || kind == 'n') && ModuleOf(routine) == "libjtrace.so";
}

std::string_view ProgramCode::ModuleOf(RoutineId routine) const {
  const auto module = modules_.find(routine);
  return module == modules_.end() ? "" : model_.ModuleName(module->second);
}

std::string LibraryOf(std::string_view routine) {
  constexpr int kPackages = 3;
  std::string_view name = WithoutParameters(routine);
  const size_t method = name.rfind('.');
  if (method == std::string_view::npos) return std::string(name);
  name = name.substr(0, method);
  const size_t type = name.rfind('.');
  if (type == std::string_view::npos) return std::string(name);
  name = name.substr(0, type);
  size_t end = 0;
  for (int i = 0; i < kPackages && end != std::string_view::npos; ++i) {
    end = name.find('.', i == 0 ? 0 : end + 1);
  }
  return std::string(name.substr(0, end));
}

}  // namespace jtrace::postproc
