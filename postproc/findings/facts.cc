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
      own_(input.tree.size()),
      owners_(input.tree.size()),
      by_routine_(input.model.routine_count() + 1) {
  bool is_time = time_.kind != Measure::Kind::kCalls;
  for (const TraceInfo& trace : input.model.traces()) {
    const std::string_view stack = trace.Fact("stack");
    if (!stack.empty() && stack != "full") has_stacks_ = false;
    if (is_sampled() && !trace.Fact("interval_events").empty()) is_time = false;
  }
  for (const NodeId root : tree().roots()) {
    if (is_time && ConsumerOfTree(input, root) == Consumer::kProgram) SpendTree(root);
  }
  SumUp();
}

void Facts::SpendTree(NodeId root) {
  struct Step {
    NodeId node;
    bool is_jtrace;
  };
  std::vector<Step> pending = {{root, false}};
  while (!pending.empty()) {
    const auto [at, above_is_jtrace] = pending.back();
    pending.pop_back();
    const CallNode& node = tree().node(at);
    const bool is_jtrace =
        above_is_jtrace ||
        (node.routine && (code_.IsProbe(node.routine) || code_.IsAgent(node.routine)));
    for (NodeId child = node.first_child; child; child = tree().node(child).next_sibling) {
      pending.push_back({child, is_jtrace});
    }
    if (is_jtrace) continue;
    own_[at.value - 1] = time_.Base(at);
    whole_ = WrapAdd(whole_, time_.Base(at));
  }
}

void Facts::SumUp() {
  std::vector<int64_t> cum = own_;
  tree().AccumulateUpwards(cum);
  // Nodes follow their parents.
  for (uint32_t i = 1; i <= tree().size(); ++i) {
    const CallNode& node = tree().node(NodeId(i));
    if (node.routine && code_.IsProgram(node.routine)) {
      owners_[i - 1] = NodeId(i);
    } else if (node.parent) {
      owners_[i - 1] = owners_[node.parent.value - 1];
    }
    if (const NodeId owner = owners_[i - 1]; owner) {
      int64_t& own = by_routine_[tree().node(owner).routine.value].own;
      own = WrapAdd(own, own_[i - 1]);
    }
    if (!node.routine) continue;
    OfRoutine& sums = by_routine_[node.routine.value];
    if (input_.totals[i - 1].recursion_level <= 1) sums.cum = WrapAdd(sums.cum, cum[i - 1]);
    if (node.origin != NodeOrigin::kEvent) continue;
    sums.calls = WrapAdd(sums.calls, node.calls);
    const RoutineKind kind = input_.model.TraitsOf(node.routine).kind;
    if (kind == RoutineKind::kMethod || kind == RoutineKind::kCall) {
      all_calls_ = WrapAdd(all_calls_, node.calls);
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
