#include "postproc/reader/text_meta.h"

#include <optional>
#include <utility>
#include <vector>

#include "postproc/reader/text_format.h"
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
  RoutineTraits traits = {*kind, *cost};
  if (fields.size() > 5) {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    const auto read = [&](size_t at, int64_t& number) {
      int64_t value = 0;
      if (ParseInteger(fields[at], value) && value >= 0 && value <= kMost) number = value;
    };
    read(4, traits.cycles);
    read(5, traits.millicycles_per_element);
  }
  model.AddRoutineTraits(model.InternRoutine(fields[3]), traits);
}

void ReadHook(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model) {
  const std::optional<HookKind> kind = ParseHookKind(fields[2]);
  if (!kind.has_value() || fields[1].empty()) return;
  const FrameId frame = model.InternFrameText(fields[1]);
  if (!IsJava(model.frame(frame).origin)) model.AddHooked(model.frame(frame).routine);
  trace.AddHook({frame, *kind, fields[3]});
}

}  // namespace

absl::Status ReadTextHeader(std::string_view line, std::string_view file, TraceModel& model) {
  if (!ConsumePrefix(line, text::kHeaderPrefix)) {
    return absl::InvalidArgumentError(StrCat(file, ": not a text trace"));
  }
  const std::vector<std::string_view> words = Split(line, ' ');
  int64_t version = 0;
  if (words.empty() || !text::ParseNumber(words[0], version)) {
    return absl::InvalidArgumentError(StrCat(file, ": the header names no version"));
  }
  if (version != text::kVersion) {
    return absl::UnimplementedError(StrCat(file, ": text trace version ", version,
                                           " is unknown to this jtrace-post (", text::kVersion,
                                           "): use a newer one"));
  }
  for (std::string_view word : words) {
    if (!ConsumePrefix(word, "unit=")) continue;
    const std::optional<TimeUnit> unit = ParseTimeUnit(word);
    if (!unit.has_value()) {
      return absl::InvalidArgumentError(StrCat(file, ": unknown unit '", word, "'"));
    }
    if (!model.SetUnit(*unit)) {
      return absl::InvalidArgumentError(StrCat(file, ": its unit is ", word,
                                               ", that of the traces before ",
                                               TimeUnitName(model.unit())));
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat(file, ": the header names no unit"));
}

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
