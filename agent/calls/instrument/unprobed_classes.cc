#include "agent/calls/instrument/unprobed_classes.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/trace_format.h"

namespace jtrace::calls {
namespace {

struct ReasonRow {
  UnprobedReason why;
  Severity severity;
  absl::string_view loss;
  absl::string_view what;
  absl::string_view advice;
};

constexpr absl::string_view kRefusedAdvice =
    "verification errors and missing classes show with -Xlog:redefine*=debug";

constexpr std::array<ReasonRow, kUnprobedReasonCount> kReasonRows = {{
    {UnprobedReason::kHidden, Severity::kInfo, "hidden_class",
     "hidden classes in scope, whose methods cannot get probes",
     "samples see them; the bodies of lambdas are ordinary methods and counted"},
    {UnprobedReason::kExempt, Severity::kInfo, "class.exempt",
     "classes that include= names, but through which the probes themselves run", ""},
    {UnprobedReason::kUnreadable, Severity::kWarning, "class.not_rewritten",
     "classes left without probes because their file could not be read",
     "a class file newer than this jtrace knows, or one the JVM will reject as well"},
    {UnprobedReason::kNoNumbers, Severity::kWarning, "class.no_numbers",
     "classes left without probes because all numbers for methods are in use",
     "count fewer classes: include=com.acme.**"},
    {UnprobedReason::kNoMethodFits, Severity::kWarning, "class.no_method_fits",
     "classes left without probes because none of their methods could get one",
     "the losses of methods say why"},
    {UnprobedReason::kNotRetransformed, Severity::kWarning, "class.not_retransformed",
     "classes loaded before the probes were ready that the JVM did not allow to be changed",
     kRefusedAdvice},
    {UnprobedReason::kNotHooked, Severity::kWarning, "class.not_hooked",
     "classes left without probes because the JVM did not show their files", ""},
    {UnprobedReason::kLate, Severity::kWarning, "class.late",
     "classes that got their probes, if any, after their first calls: those are not counted",
     "they were being loaded when the recording began; begin it earlier"},
}};

constexpr bool ReasonsInOrder() {
  for (size_t i = 0; i < kReasonRows.size(); ++i) {
    if (kReasonRows[i].why != static_cast<UnprobedReason>(i)) return false;
  }
  return true;
}
static_assert(ReasonsInOrder(), "the table is indexed by UnprobedReason");

constexpr uint32_t BitOf(UnprobedReason why) { return 1u << static_cast<uint32_t>(why); }

}  // namespace

void UnprobedClasses::Clear() {
  std::lock_guard lock(mutex_);
  reasons_.clear();
}

void UnprobedClasses::Add(UnprobedReason why, uint32_t class_id, absl::string_view binary_name,
                          absl::string_view detail) {
  {
    std::lock_guard lock(mutex_);
    uint32_t& reasons = reasons_[class_id];
    if ((reasons & BitOf(why)) != 0) return;
    reasons |= BitOf(why);
  }
  const ReasonRow& row = kReasonRows[static_cast<size_t>(why)];
  // Cuts off the address in a hidden class's name, which means nothing to a user.
  const absl::string_view name = binary_name.substr(0, binary_name.find(".0x"));
  losses_.AddNamed(row.loss, row.severity,
                   detail.empty() ? std::string(name) : absl::StrCat(name, " (", detail, ")"),
                   row.what, row.advice);
  proto::ClassEvent details;
  details.set_class_id(class_id);
  const std::string reason =
      detail.empty() ? std::string(row.loss) : absl::StrCat(row.loss, " ", detail);
  encoder_.AddClassEvent({.time_ns = clock_.Now(),
                          .major = format::kClass,
                          .minor = format::kClassUnprobed,
                          .text = reason},
                         std::move(details));
}

bool UnprobedClasses::Has(UnprobedReason why, uint32_t class_id) const {
  std::lock_guard lock(mutex_);
  const auto found = reasons_.find(class_id);
  return found != reasons_.end() && (found->second & BitOf(why)) != 0;
}

void UnprobedClasses::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  std::lock_guard lock(mutex_);
  for (const uint32_t class_id : classes) reasons_.erase(class_id);
}

}  // namespace jtrace::calls
