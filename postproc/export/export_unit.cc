#include "postproc/export/export_unit.h"

namespace jtrace::postproc {
namespace {

std::string_view LongName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kNanoseconds:
      return "nanoseconds";
    case TimeUnit::kMicroseconds:
      return "microseconds";
    case TimeUnit::kMilliseconds:
      return "milliseconds";
    case TimeUnit::kTicks:
      return "ticks";
  }
  return "";
}

ExportUnit UnitOfMetric(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kCount:
      return {"count"};
    case MetricUnit::kBytes:
      return {"bytes"};
    case MetricUnit::kNanoseconds:
      return {"nanoseconds", 1};
  }
  return {"count"};
}

}  // namespace

ExportUnit UnitOf(const Measure& measure, const TraceModel& model) {
  switch (measure.kind) {
    case Measure::Kind::kCalls:
      return {"count"};
    case Measure::Kind::kTicks:
      return {"ticks", model.interval_ns()};
    case Measure::Kind::kTime:
    case Measure::Kind::kOff:
      return {LongName(model.unit()), NanosecondsPer(model.unit())};
    case Measure::Kind::kMetric:
      return UnitOfMetric(measure.unit);
  }
  return {"count"};
}

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
