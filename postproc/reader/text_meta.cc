#include "postproc/reader/text_meta.h"

#include <optional>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

void ReadFact(absl::Span<const std::string> fields, TraceInfo& trace) {
  if (fields[1] == "cut_off") {
    trace.cut_off = true;
    return;
  }
  if (fields[1] == "running") {
    trace.running = true;
    return;
  }
  trace.SetFact(fields[1], fields[2]);
  if (fields[1] == "interval_ns") ParseInteger(fields[2], trace.interval_ns);
}

void ReadLoss(absl::Span<const std::string> fields, TraceInfo& trace) {
  Loss loss;
  loss.name = fields[1];
  loss.severity = fields[2] == "info"    ? Severity::kInfo
                  : fields[2] == "error" ? Severity::kError
                                         : Severity::kWarning;
  ParseInteger(fields[3], loss.count);
  loss.what = fields[4];
  loss.advice = fields[5];
  trace.SetLoss(std::move(loss));
}

void ReadRoutine(absl::Span<const std::string> fields, TraceModel& model) {
  const std::optional<RoutineKind> kind = ParseRoutineKind(fields[1]);
  const std::optional<RoutineCost> cost = ParseRoutineCost(fields[2]);
  if (!kind.has_value() || !cost.has_value()) return;
  model.AddRoutineTraits(model.InternRoutine(fields[3]), {*kind, *cost});
}

void ReadHook(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model) {
  const std::optional<HookKind> kind = ParseHookKind(fields[2]);
  if (!kind.has_value() || fields[1].empty()) return;
  const FrameId frame = model.InternFrameText(fields[1]);
  model.AddHooked(model.frame(frame).routine);
  trace.AddHook({frame, *kind, fields[3]});
}

}  // namespace

void ReadTextMeta(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model) {
  const auto is = [&](std::string_view kind, size_t count) {
    return fields.size() >= count && fields[0] == kind;
  };
  int64_t value = 0;
  if (is("session", 3)) {
    ReadFact(fields, trace);
  } else if (is("loss", 6)) {
    ReadLoss(fields, trace);
  } else if (is("count", 4) && ParseInteger(fields[2], value)) {
    trace.SetCount(fields[1], value, fields[3]);
  } else if (is("scope", 2)) {
    const RoutineId routine = model.InternRoutine(fields[1]);
    model.AddToScope(routine);
    model.AddRoutineTraits(routine, {});
  } else if (is("routine", 4)) {
    ReadRoutine(fields, model);
  } else if (is("hook", 4)) {
    ReadHook(fields, trace, model);
  }
}

}  // namespace jtrace::postproc
