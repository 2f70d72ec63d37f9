#include "agent/calls/instrument/probe_targets.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"
#include "agent/calls/instrument/jdk_probe_points.h"
#include "common/classfile/class_file.h"

namespace jtrace::calls {
namespace {

using classfile::CallProbe;
using classfile::ProbePointKind;
using classfile::ProbeTarget;

std::string Key(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  return absl::StrCat(Abseil(class_name), ".", Abseil(name), Abseil(descriptor));
}

std::string CalleeName(const ProbeTarget& callee) {
  return absl::StrCat(DottedName(callee.class_name), ".", Abseil(callee.name));
}

proto::Routine::Kind KindOf(ProbePointKind kind) {
  switch (kind) {
    case ProbePointKind::kCall:
      return proto::Routine::CALL;
    case ProbePointKind::kNative:
      return proto::Routine::NATIVE;
    case ProbePointKind::kThrown:
      return proto::Routine::THROWN;
    case ProbePointKind::kCaught:
      return proto::Routine::CAUGHT;
    case ProbePointKind::kMonitorEnter:
      return proto::Routine::MONITOR_ENTER;
    case ProbePointKind::kMonitorExit:
      return proto::Routine::MONITOR_EXIT;
  }
  return proto::Routine::METHOD;
}

}  // namespace

void NativeMethods::Add(uint32_t class_id, absl::Span<const classfile::MethodOutcome> methods) {
  std::vector<std::string> natives;
  for (const classfile::MethodOutcome& outcome : methods) {
    const classfile::MethodDeclaration& method = outcome.method;
    if ((method.access & classfile::kAccNative) == 0) continue;
    natives.push_back(Key(method.class_name, method.name, method.descriptor));
  }
  std::lock_guard lock(mutex_);
  ForgetLocked(class_id);
  if (natives.empty()) return;
  for (const std::string& native : natives) ++known_[native];
  by_class_[class_id] = std::move(natives);
}

void NativeMethods::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  std::lock_guard lock(mutex_);
  for (const uint32_t class_id : classes) ForgetLocked(class_id);
}

void NativeMethods::ForgetLocked(uint32_t class_id) {
  const auto found = by_class_.find(class_id);
  if (found == by_class_.end()) return;
  for (const std::string& native : found->second) {
    const auto known = known_.find(native);
    if (known != known_.end() && --known->second == 0) known_.erase(known);
  }
  by_class_.erase(found);
}

bool NativeMethods::Contains(const ProbeTarget& callee) const {
  std::lock_guard lock(mutex_);
  if (known_.empty()) return false;
  return known_.contains(Key(callee.class_name, callee.name, callee.descriptor));
}

bool RoutineTargets::IsWanted(const ProbeTarget& callee) {
  return only_ != nullptr ? only_(callee) : costs_.Of(CalleeName(callee)).has_value();
}

CallProbe RoutineTargets::ProbeOf(const ProbeTarget& callee) {
  const std::optional<CallCost> cost = costs_.Of(CalleeName(callee));
  if (!cost.has_value()) return CallProbe::kUsual;
  if (cost->group == proto::Routine::INDETERMINATE) return CallProbe::kTimed;
  // Overloads of the method may have other last parameters.
  const CallProbe of_rule = cost->elements == Elements::kNumber   ? CallProbe::kElements
                            : cost->elements == Elements::kLength ? CallProbe::kElementsOf
                                                                  : CallProbe::kUsual;
  const CallProbe of_callee = classfile::ProbeOfLastArgument(callee.descriptor);
  return of_callee == of_rule ? of_rule : CallProbe::kUsual;
}

uint32_t RoutineTargets::IdOf(const ProbeTarget& target) {
  const std::string class_name = DottedName(target.class_name);
  const uint32_t callee_loader = loader_of_(class_name);
  trace::RoutineInfo routine = {
      .class_id = encoder_.ClassNumber(class_name, callee_loader),
      .name = Abseil(target.name),
      .descriptor = Abseil(target.descriptor),
      .kind = IsPark(target) ? proto::Routine::PARK : KindOf(target.kind)};
  if (only_ == &IsInput) {
    routine.cost = proto::Routine::USER_INPUT;
  } else if (!target.name.empty()) {
    const CallCost cost = costs_.Of(CalleeName(target)).value_or(CallCost());
    routine.cost = cost.group;
    routine.cycles = cost.cycles;
    routine.millicycles_per_element = cost.millicycles_per_element;
  }
  return encoder_.RoutineNumber(routine,
                                /*is_foreign=*/callee_loader != 0 && callee_loader != loader_);
}

}  // namespace jtrace::calls
