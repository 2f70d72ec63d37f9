#include "agent/calls/instrument/unwind_methods.h"

#include "agent/samples/instrumented_unwinds.h"

namespace jtrace::calls {

void UnwindMethods::Add(const classfile::RewriteResult& result) {
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.unwound) continue;
    SetMatched(result.class_name, outcome.method.name);
    const uint32_t every = rules_.EveryOf(result.class_name, outcome.method.name);
    if (samples::instrumented_unwinds.Set(outcome.id, every)) continue;
    losses_.Add("unwind.no_memory", Severity::kWarning, 1, "methods whose unwinds are not taken");
  }
}

void UnwindMethods::SetMatched(std::string_view class_name, std::string_view method) {
  const absl::MutexLock lock(&mutex_);
  for (size_t rule = 0; rule < rules_.size(); ++rule) {
    if (rules_.Matches(rule, class_name, method)) matched_.insert(rule);
  }
}

std::vector<std::string> UnwindMethods::Unmatched() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> patterns;
  for (size_t rule = 0; rule < rules_.size(); ++rule) {
    if (!matched_.contains(rule)) patterns.push_back(rules_.pattern(rule));
  }
  return patterns;
}

}  // namespace jtrace::calls
