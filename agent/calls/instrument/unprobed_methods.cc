#include "agent/calls/instrument/unprobed_methods.h"

#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"

namespace jtrace::calls {

void UnprobedMethods::Add(uint32_t class_id, const classfile::RewriteResult& result) {
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (Describe(outcome.reason).effect == classfile::Effect::kNothing) continue;
    Add({class_id, DottedName(result.class_name), std::string(outcome.method.name), outcome.reason,
         result.bytes.empty()});
  }
}

void UnprobedMethods::Add(const Method& method) {
  bool is_reported = false;
  {
    const absl::MutexLock lock(&mutex_);
    is_reported = is_reported_;
    methods_.push_back(method);
  }
  if (is_reported) Report(method);
}

void UnprobedMethods::SetReported(bool is_reported) {
  std::vector<Method> methods;
  {
    const absl::MutexLock lock(&mutex_);
    is_reported_ = is_reported;
    if (is_reported) methods = methods_;
  }
  for (const Method& method : methods) Report(method);
}

void UnprobedMethods::Report(const Method& method) {
  const classfile::ReasonInfo& reason = Describe(method.reason);
  losses_.AddNamed(absl::StrCat("method.", Abseil(reason.name)), Severity::kWarning,
                   absl::StrCat(method.class_name, ".", method.name),
                   absl::StrCat("methods: ", Abseil(reason.what)), Abseil(reason.advice));
  if (reason.effect == classfile::Effect::kUntouched && method.is_alone) {
    unprobed_classes_.Add(UnprobedReason::kNoMethodFits, method.class_id, method.class_name);
  }
}

void UnprobedMethods::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(methods_, [&](const Method& it) { return classes.contains(it.class_id); });
}

}  // namespace jtrace::calls
