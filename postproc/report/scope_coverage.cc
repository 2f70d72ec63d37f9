#include "postproc/report/scope_coverage.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {

std::string_view ClassOf(std::string_view routine) {
  const std::string_view name = WithoutParameters(routine);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

ScopeCoverage::ScopeCoverage(const ReportInput& input) : is_java_(input.model.routine_count() + 1) {
  std::vector<bool> ran(is_java_.size());
  for (const FlatRow& row : input.flat().rows()) {
    if (row.is_root) continue;
    ran[row.routine.value] = row.calls != 0 || row.samples != 0 || row.cum_ticks != 0;
    if (row.instrumented && !input.model.IsHooked(row.routine)) is_java_[row.routine.value] = true;
  }
  for (uint32_t i = 1; i <= input.model.frame_count(); ++i) {
    const Frame& frame = input.model.frame(FrameId(i));
    if (postproc::IsJava(frame.origin)) is_java_[frame.routine.value] = true;
  }
  for (const RoutineId routine : input.model.scope()) {
    is_java_[routine.value] = true;
    methods_.push_back({input.model.RoutineName(routine), ran[routine.value]});
    executed_ += ran[routine.value] ? 1 : 0;
  }
  for (const std::string& name : input.line_sources.never_loaded) {
    methods_.push_back({name, false, true});
    ++never_loaded_;
  }
  std::sort(methods_.begin(), methods_.end(), [](const Method& a, const Method& b) {
    return std::pair(ClassOf(a.name), a.name) < std::pair(ClassOf(b.name), b.name);
  });
}

}  // namespace jtrace::postproc
