#include "postproc/reader/text_hook.h"

#include <cstdint>
#include <utility>

#include "postproc/reader/text_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::text {
namespace {

constexpr std::pair<std::string_view, int64_t HookSums::*> kKeys[] = {
    {"calls", &HookSums::calls},
    {"timed", &HookSums::timed},
    {"total", &HookSums::total_ns},
    {"min", &HookSums::min_ns},
    {"max", &HookSums::max_ns}};

// "timed=2"; false if it is not one of the keys with a number from 0 on.
bool ParsePair(std::string_view pair, HookSums& sums) {
  const size_t equals = pair.find('=');
  int64_t value = 0;
  if (equals == std::string_view::npos || !ParseInteger(pair.substr(equals + 1), value) ||
      value < 0 || value > kMaxNumber) {
    return false;
  }
  for (const auto& [key, member] : kKeys) {
    if (key != pair.substr(0, equals)) continue;
    sums.*member = value;
    return true;
  }
  return false;
}

std::optional<HookSums> ParseSums(std::string_view text) {
  HookSums sums;
  for (const std::string_view pair : Split(text, ',')) {
    if (!ParsePair(pair, sums)) return std::nullopt;
  }
  // Without calls there are no times.
  if (sums.timed == 0) return HookSums{sums.calls, 0, 0, 0, 0};
  return sums;
}

}  // namespace

std::string HookSumsText(const HookSums& sums) {
  std::string text;
  for (const auto& [key, member] : kKeys) {
    if (!text.empty() && sums.timed == 0) break;
    StrAppend(&text, text.empty() ? "" : ",", key, "=", sums.*member);
  }
  return text;
}

std::optional<HookFields> HookFields::Parse(absl::Span<const std::string> args,
                                            absl::Span<const CallSite> places, TraceInfo& trace,
                                            TraceModel& model) {
  if (args.size() < 4 || args[0].empty()) return std::nullopt;
  const std::optional<HookKind> kind = ParseHookKind(args[1]);
  const std::optional<HookSums> sums = ParseSums(args[3]);
  if (!kind.has_value() || !sums.has_value()) return std::nullopt;
  HookFields fields;
  fields.record_.hook = model.InternFrameText(args[0]);
  fields.record_.kind = *kind;
  model.AddHooked(model.frame(fields.record_.hook).routine);
  trace.AddHook({fields.record_.hook, *kind, ""});
  if (!args[2].empty()) fields.record_.caller = model.InternFrameText(args[2]);
  fields.record_.sums = *sums;
  for (size_t i = 4; i < args.size(); ++i) {
    const FrameId id = model.InternFrameText(args[i]);
    const Frame& frame = model.frame(id);
    if (frame.is_tail_call) {
      fields.jumped_.push_back(id);
    } else {
      fields.path_.emplace_back(frame.routine, i == 4 ? kNoCallSite : places[i - 1]);
    }
  }
  return fields;
}

}  // namespace jtrace::postproc::text
