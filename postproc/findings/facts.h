// What the rules share, computed once: the time of each node, without that of the JVM's threads and
// of jtrace itself, and the program's method that it belongs to. Everything is linear in the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/measure.h"
#include "postproc/report/program_code.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

class Facts {
 public:
  // `input` outlives it.
  explicit Facts(const ReportInput& input);

  const ReportInput& input() const { return input_; }
  const TraceModel& model() const { return input_.model; }
  const CallTree& tree() const { return input_.tree; }
  const ProgramCode& code() const { return code_; }
  std::string_view Name(RoutineId routine) const { return input_.model.RoutineName(routine); }

  // Whether any time is known: ticks or, without samples, that of a clock; whatever --metric says.
  // Samples of events, such as page faults, are not of time.
  bool has_time() const { return whole_ > 0; }
  // Samples of time with whole stacks, which show code of others (stack=full).
  bool has_stacks() const { return has_time() && is_sampled() && has_stacks_; }
  // The time in code of others is known: by such samples, or as calls out of scope (boundary=on).
  bool sees_callees() const {
    return has_stacks() || (has_time() && !is_sampled() && HasRoutineOf(RoutineKind::kCall));
  }
  // Of a node without its callees; 0 in the JVM's threads and in jtrace's own code.
  int64_t Time(NodeId node) const { return own_[node.value - 1]; }
  // Of all nodes.
  int64_t whole_time() const { return whole_; }
  // Of a routine with its callees.
  int64_t CumOf(RoutineId routine) const { return by_routine_[routine.value].cum; }
  // Of a method of the program, with the code of others that it runs.
  int64_t OwnOf(RoutineId routine) const { return by_routine_[routine.value].own; }
  std::string FormatTime(int64_t time) const;
  double ShareOfTime(int64_t time) const { return PercentOf(time, whole_); }
  // At least that share of the time, and more than chance: 50 ticks, or 50 ms of a clock.
  bool IsMuchTime(int64_t time, double percent) const;

  // Calls that events counted; 0: none, or not known.
  int64_t CallsOf(RoutineId routine) const { return by_routine_[routine.value].calls; }
  // Of all methods, with the calls out of scope where these are counted (boundary=on).
  int64_t all_calls() const { return all_calls_; }
  bool has_calls() const { return all_calls_ > 0; }

  // The nearest method of the program, the node itself or above it; none: there is none.
  NodeId Owner(NodeId node) const { return owners_[node.value - 1]; }
  // The nearest methods of the program above a node, those of recursion once, nearest first.
  std::vector<NodeId> OwnersAbove(NodeId node) const;

  // Nanoseconds between the first record and the last one; 0: unknown.
  int64_t recorded_ns() const { return recorded_ns_; }
  // Whether that metric was recorded by call path, even if all its values are 0.
  bool HasMetric(std::string_view metric) const;
  // Whether a trace was recorded with that option, such as "boundary=on".
  bool HasOption(std::string_view option) const;
  // Whether a trace was recorded with that name in "codes=", such as "owner".
  bool HasCode(std::string_view name) const;
  bool HasRoutineOf(RoutineKind kind) const;

 private:
  struct OfRoutine {
    int64_t cum = 0;
    int64_t own = 0;
    int64_t calls = 0;
  };

  bool is_sampled() const { return time_.kind == Measure::Kind::kTicks; }
  // The time of the program's threads, without jtrace's own code.
  void Spend();
  void SumUp();

  const ReportInput& input_;
  const ProgramCode code_;
  const Measure time_;
  bool has_stacks_ = true;
  int64_t whole_ = 0;
  int64_t all_calls_ = 0;
  int64_t recorded_ns_ = 0;
  PrefixColumn<int64_t> own_;
  std::vector<NodeId> owners_;
  std::vector<OfRoutine> by_routine_;
};

}  // namespace jtrace::postproc
