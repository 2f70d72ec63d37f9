#include "postproc/export/sample_types.h"

#include "postproc/export/export_unit.h"

namespace jtrace::postproc {

std::string_view TickType(const TraceModel& model) {
  return model.traces().front().Fact("timer").starts_with("wall") ? "wall" : "cpu";
}

std::vector<SampleType> SampleTypes(const ExportTree& tree, const TraceModel& model) {
  std::vector<SampleType> types;
  for (const Measure& measure : tree.measures()) {
    const bool ticks = measure.kind == Measure::Kind::kTicks;
    const ExportUnit unit = UnitOf(measure, model);
    types.push_back({ticks ? "samples" : measure.name,
                     std::string(unit.name == "ticks" ? "count" : unit.name), &measure, 1});
    if (ticks && unit.ns != 0) {
      types.push_back({std::string(TickType(model)), "nanoseconds", &measure, unit.ns});
    }
  }
  return types;
}

}  // namespace jtrace::postproc
