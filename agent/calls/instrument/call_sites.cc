#include "agent/calls/instrument/call_sites.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/signal_safe/probe_memory.h"
#include "common/classfile/class_file.h"

namespace jtrace::calls {
namespace {

using classfile::CallProbe;
using classfile::SiteKind;
using classfile::SiteRef;

std::string Key(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  return absl::StrCat(Abseil(class_name), ".", Abseil(name), Abseil(descriptor));
}

std::string CalleeName(const SiteRef& callee) {
  return absl::StrCat(DottedName(callee.class_name), ".", Abseil(callee.name));
}

proto::Routine::Kind KindOf(SiteKind kind) {
  switch (kind) {
    case SiteKind::kCall:
      return proto::Routine::CALL;
    case SiteKind::kNative:
      return proto::Routine::NATIVE;
    case SiteKind::kThrown:
      return proto::Routine::THROWN;
    case SiteKind::kCaught:
      return proto::Routine::CAUGHT;
    case SiteKind::kMonitorEnter:
      return proto::Routine::MONITOR_ENTER;
    case SiteKind::kMonitorExit:
      return proto::Routine::MONITOR_EXIT;
  }
  return proto::Routine::METHOD;
}

}  // namespace

bool IsPark(const SiteRef& callee) {
  if (!callee.name.starts_with("park")) return false;
  return callee.class_name == "jdk/internal/misc/Unsafe" ||
         callee.class_name == "sun/misc/Unsafe" ||
         callee.class_name == "jdk/internal/misc/VirtualThreads";
}

void NativeMethods::Add(uint32_t class_id, absl::Span<const classfile::MethodOutcome> methods) {
  std::vector<std::string> natives;
  for (const classfile::MethodOutcome& outcome : methods) {
    const classfile::MethodRef& method = outcome.method;
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

bool NativeMethods::Contains(const SiteRef& callee) const {
  std::lock_guard lock(mutex_);
  if (known_.empty()) return false;
  return known_.contains(Key(callee.class_name, callee.name, callee.descriptor));
}

bool CallSites::Wants(const SiteRef& callee) {
  return only_ != nullptr ? only_(callee) : costs_.Of(CalleeName(callee)).has_value();
}

CallProbe CallSites::ProbeOf(const SiteRef& callee) {
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

uint32_t CallSites::IdOf(const SiteRef& site) {
  const std::string class_name = DottedName(site.class_name);
  const uint32_t callee_loader = loader_of_(class_name);
  trace::RoutineInfo routine = {.class_id = encoder_.ClassId(class_name, callee_loader),
                                .name = Abseil(site.name),
                                .descriptor = Abseil(site.descriptor),
                                .kind = IsPark(site) ? proto::Routine::PARK : KindOf(site.kind)};
  if (only_ == &IsInput) {
    routine.cost = proto::Routine::USER_INPUT;
  } else if (!site.name.empty()) {
    const CallCost cost = costs_.Of(CalleeName(site)).value_or(CallCost());
    routine.cost = cost.group;
    routine.cycles = cost.cycles;
    routine.millicycles_per_element = cost.millicycles_per_element;
  }
  return encoder_.SiteId(routine, /*is_foreign=*/callee_loader != 0 && callee_loader != loader_);
}

static_assert(classfile::kIdWithoutPlace == signal_safe::kWithoutPlace);

uint32_t PlaceTable::NumberOf(uint32_t routine, CallPlace place) {
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<CallPlace>& places = routines_[routine].places;
    const auto known = std::find(places.begin(), places.end(), place);
    const auto number = static_cast<uint32_t>(known - places.begin()) + 1;
    if (known != places.end()) return number;
    if (number <= signal_safe::kMaxPlaces) {
      places.push_back(place);
      return number;
    }
  }
  losses_.Add("sites.no_numbers", Severity::kWarning, 1,
              "lines with calls that are not distinguished: a method has 2,046 distinguished ones",
              "split the method");
  return 0;
}

bool PlaceTable::KnowsOtherCode(std::string_view class_name, classfile::Bytes class_bytes) {
  const size_t hash = std::max<size_t>(absl::HashOf(class_bytes), 1);
  const absl::MutexLock lock(&mutex_);
  const auto [entry, inserted] = codes_.try_emplace(std::string(class_name), hash);
  if (entry->second != hash) entry->second = 0;
  return entry->second == 0;
}

void PlaceTable::SetCode(const classfile::InstrumentResult& result) {
  const absl::MutexLock lock(&mutex_);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    Routine& routine = routines_[outcome.id];
    routine.placed = outcome.placed;
    routine.only = outcome.only_place;
    routine.is_initializer = outcome.method.name == "<clinit>";
    if (outcome.id < signal_safe::kPlacedIds) continue;
    losses_.Add("sites.no_routines", Severity::kWarning, 1,
                "methods whose callers' lines are not distinguished: there are a million before "
                "them",
                "count fewer methods: include=com.acme.**");
  }
}

CallPlace PlaceTable::Place(uint32_t caller, uint32_t number, uint32_t callee) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(caller);
  if (found == routines_.end()) return kNoCallPlace;
  const Routine& routine = found->second;
  if (number != 0) {
    return number <= routine.places.size() ? routine.places[number - 1] : kNoCallPlace;
  }
  const auto called = routines_.find(callee);
  const bool is_initializer = called != routines_.end() && called->second.is_initializer;
  return is_initializer ? kNoCallPlace : routine.only;
}

CallPlace PlaceTable::PlaceAt(uint32_t routine, uint32_t bci) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(routine);
  if (found == routines_.end()) return kNoCallPlace;
  const std::vector<classfile::PlacedCode>& placed = found->second.placed;
  const auto after =
      std::upper_bound(placed.begin(), placed.end(), bci,
                       [](uint32_t at, const classfile::PlacedCode& row) { return at < row.bci; });
  if (after == placed.begin()) return kNoCallPlace;
  const classfile::PlacedCode& row = *std::prev(after);
  // Without line numbers only the calls themselves are known.
  return IsLine(row.place) || row.bci == bci ? row.place : kNoCallPlace;
}

}  // namespace jtrace::calls
