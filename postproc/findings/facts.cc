#include "postproc/findings/facts.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "postproc/report/headline.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int64_t kLeastTicks = 50;
constexpr int64_t kLeastNs = 50'000'000;

int64_t RecordedNs(const ReportInput& input) {
  const absl::int128 ns =
      absl::int128(WrapSub(input.last_time, input.first_time)) * NanosecondsPer(input.model.unit());
  return ns > 0 && ns <= std::numeric_limits<int64_t>::max() ? static_cast<int64_t>(ns) : 0;
}

}  // namespace

Facts::Facts(const ReportInput& input)
    : input_(input),
      code_(input),
      time_(ChooseMeasure("", input.model, input.tree)),
      recorded_ns_(RecordedNs(input)),
      owners_(input.tree.size()),
      by_routine_(input.model.routine_count() + 1) {
  bool is_time = time_.kind != Measure::Kind::kCalls;
  for (const TraceInfo& trace : input.model.traces()) {
    const std::string_view stack = trace.Fact("stack");
    if (!stack.empty() && stack != "full") has_stacks_ = false;
    if (is_sampled() && !trace.Fact("interval_events").empty()) is_time = false;
  }
  if (is_time) Spend();
  SumUp();
}

void Facts::Spend() {
  std::vector<bool> is_program(tree().size());
  // Nodes follow their parents.
  for (uint32_t i = 0; i < tree().size(); ++i) {
    const NodeId id(i + 1);
    const NodeId parent = tree().parent(id);
    const RoutineId routine = tree().routine(id);
    const bool is_jtrace = routine && (code_.IsProbe(routine) || code_.IsAgent(routine));
    is_program[i] = !is_jtrace && (parent ? is_program[parent.value - 1]
                                          : ConsumerOfTree(input_, id) == Consumer::kProgram);
    if (!is_program[i]) continue;
    const int64_t time = time_.Base(id);
    if (time != 0) own_.At(i) = time;
    whole_ = WrapAdd(whole_, time);
  }
}

void Facts::SumUp() {
  PrefixColumn<int64_t> cum = own_;
  tree().AccumulateUpwards(cum.values());
  // Nodes follow their parents.
  for (uint32_t i = 1; i <= tree().size(); ++i) {
    const NodeId id(i);
    const RoutineId routine = tree().routine(id);
    if (routine && code_.IsProgram(routine)) {
      owners_[i - 1] = id;
    } else if (const NodeId parent = tree().parent(id)) {
      owners_[i - 1] = owners_[parent.value - 1];
    }
    if (const NodeId owner = owners_[i - 1]; owner && own_[i - 1] != 0) {
      int64_t& own = by_routine_[tree().routine(owner).value].own;
      own = WrapAdd(own, own_[i - 1]);
    }
    if (!routine) continue;
    OfRoutine& sums = by_routine_[routine.value];
    if (input_.totals().recursion_level(i - 1) <= 1) sums.cum = WrapAdd(sums.cum, cum[i - 1]);
    const int64_t calls = tree().calls(id);
    if (calls == 0 || tree().origin(id) != NodeOrigin::kEvent) continue;
    sums.calls = WrapAdd(sums.calls, calls);
    const RoutineKind kind = input_.model.TraitsOf(routine).kind;
    if (kind == RoutineKind::kMethod || kind == RoutineKind::kCall) {
      all_calls_ = WrapAdd(all_calls_, calls);
    }
  }
}

std::string Facts::FormatTime(int64_t time) const {
  return FormatInteger(time, StyleOf(time_), input_.units());
}

bool Facts::IsMuchTime(int64_t time, double percent) const {
  const int64_t unit = is_sampled() ? 1 : NanosecondsPer(input_.model.unit());
  // Of a clock whose ticks have no known length only the share counts.
  const int64_t least = is_sampled() ? kLeastTicks : unit > 0 ? kLeastNs / unit : 1;
  return time >= least && ShareOfTime(time) >= percent;
}

std::vector<NodeId> Facts::OwnersAbove(NodeId node) const {
  std::vector<NodeId> above;
  RoutineId below = tree().node(node).routine;
  for (NodeId at = tree().node(node).parent; at; at = tree().node(at).parent) {
    const RoutineId routine = tree().node(at).routine;
    if (!routine || routine == below || !code_.IsProgram(routine)) continue;
    above.push_back(at);
    below = routine;
  }
  return above;
}

bool Facts::HasMetric(std::string_view metric) const {
  if (input_.model.FindMetric(metric)) return true;
  const auto& traces = input_.model.traces();
  return std::any_of(traces.begin(), traces.end(), [&](const TraceInfo& trace) {
    for (const std::string_view option : Split(trace.Fact("options"), ',')) {
      std::string_view names = option;
      if (ConsumePrefix(names, "metrics=") && IsOneOf(metric, Split(names, ';'))) return true;
    }
    return false;
  });
}

bool Facts::HasOption(std::string_view option) const {
  const auto& traces = input_.model.traces();
  return std::any_of(traces.begin(), traces.end(), [&](const TraceInfo& trace) {
    return IsOneOf(option, Split(trace.Fact("options"), ','));
  });
}

bool Facts::HasCode(std::string_view name) const {
  const auto& traces = input_.model.traces();
  return std::any_of(traces.begin(), traces.end(), [&](const TraceInfo& trace) {
    return IsOneOf(StrCat("+", name), Split(trace.Fact("codes"), ';'));
  });
}

bool Facts::HasRoutineOf(RoutineKind kind) const {
  for (uint32_t i = 1; i <= input_.model.routine_count(); ++i) {
    if (input_.model.TraitsOf(RoutineId(i)).kind == kind) return true;
  }
  return false;
}

}  // namespace jtrace::postproc
