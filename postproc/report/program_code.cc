#include "postproc/report/program_code.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/jdk_packages.h"
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

namespace {

constexpr std::string_view kOrigins = "JCINVK";

char KindWithoutFrames(const TraceModel& model, RoutineId routine) {
  switch (model.TraitsOf(routine).kind) {
    case RoutineKind::kCall:
      return 'c';
    case RoutineKind::kNative:
      return 'n';
    case RoutineKind::kThrown:
    case RoutineKind::kCaught:
      return 'x';
    case RoutineKind::kPark:
    case RoutineKind::kMonitorEnter:
    case RoutineKind::kMonitorExit:
      return 'p';
    case RoutineKind::kMethod:
      break;
  }
  return model.RoutineName(routine).starts_with('[') ? 'm' : 'E';
}

}  // namespace

std::vector<char> FrameKinds(const ReportInput& input) {
  const TraceModel& model = input.model;
  const StackTable& stacks = input.samples.stacks();
  // The number of the distinct stacks' frames of each origin, by routine.
  std::vector<std::array<int32_t, kOrigins.size()>> counts(model.routine_count() + 1);
  for (size_t i = 1; i <= stacks.size(); ++i) {
    const Frame& frame = model.frame(stacks.Innermost(StackId(static_cast<uint32_t>(i))));
    const size_t origin = kOrigins.find(static_cast<char>(frame.origin));
    if (origin != std::string_view::npos) ++counts[frame.routine.value][origin];
  }
  // Native functions with hooks may have no frames.
  for (const auto& [hook, callers] : input.hooks.hooks()) {
    const Frame& frame = model.frame(hook.first);
    const size_t origin = kOrigins.find(static_cast<char>(frame.origin));
    if (origin != std::string_view::npos) ++counts[frame.routine.value][origin];
  }
  std::vector<char> kinds(counts.size(), 'E');
  for (size_t i = 1; i < counts.size(); ++i) {
    const auto most = std::max_element(counts[i].begin(), counts[i].end());
    const RoutineId routine(static_cast<uint32_t>(i));
    const char origin = kOrigins[static_cast<size_t>(most - counts[i].begin())];
    // The agent's own markers are frames of the JVM, "[jtrace probe]"; functions without a symbol,
    // "[libc.so.6+0x85f70]", are native ones.
    const bool is_marker = origin == 'V' && model.RoutineName(routine).starts_with('[');
    kinds[i] = *most == 0 ? KindWithoutFrames(model, routine) : is_marker ? 'm' : origin;
  }
  return kinds;
}

}  // namespace jtrace::postproc
