#include "agent/calls/instrument/method_hook_matcher.h"

namespace jtrace::calls {

absl::StatusOr<std::unique_ptr<MethodHookMatcher>> MethodHookMatcher::Create(
    const std::vector<native_hooks::HookSpec>& specs, trace::RecordEncoder& encoder) {
  std::vector<Rule> rules;
  for (const native_hooks::HookSpec& spec : specs) {
    auto methods = classfile::ScopeFilter::Create(std::vector<std::string>{spec.symbol}, {});
    if (!methods.ok()) return methods.status();
    rules.push_back({spec, *std::move(methods)});
  }
  return std::unique_ptr<MethodHookMatcher>(new MethodHookMatcher(std::move(rules), encoder));
}

void MethodHookMatcher::Add(const classfile::RewriteResult& result) {
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (outcome.probed) AddMethod(result.class_name, outcome.method.name, outcome.id);
  }
}

// A redefined class is added again, with the same routine numbers: known_ shows that it was known.
void MethodHookMatcher::AddMethod(std::string_view class_name, std::string_view method,
                                  uint32_t routine) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!rules_[i].methods.Includes(class_name, method)) continue;
    rules_[i].is_matched = true;
    if (known_.insert({routine, i}).second) log_.emplace_back(routine, i);
  }
}

std::vector<std::string> MethodHookMatcher::Unmatched() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> patterns;
  for (const Rule& rule : rules_) {
    if (!rule.is_matched) patterns.push_back(rule.spec.symbol);
  }
  return patterns;
}

void MethodHookMatcher::AddChanges(uint64_t, proto::Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  for (; written_ < log_.size(); ++written_) {
    const auto& [routine, rule] = log_[written_];
    const native_hooks::HookSpec& spec = rules_[rule].spec;
    proto::MethodHook& hook = *chunk.add_method_hook();
    hook.set_routine(routine);
    hook.set_kind(spec.kind == native_hooks::HookKind::kUnwind ? proto::Hook::UNWIND
                                                               : proto::Hook::COUNT);
    hook.set_pattern(encoder_.String(native_hooks::HookSpecText(spec)));
  }
}

void MethodHookMatcher::BeginFile() { written_ = 0; }

}  // namespace jtrace::calls
