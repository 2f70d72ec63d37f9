#include "agent/options/unwind_rules.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace jtrace {
namespace {

constexpr absl::string_view kEvery = ":every=";
constexpr std::string_view kOwnPackage = "java/lang/invoke/";

absl::StatusOr<classfile::ScopeFilter> FilterOf(const std::string& pattern) {
  return classfile::ScopeFilter::Create(std::vector<std::string>{pattern}, {});
}

}  // namespace

absl::StatusOr<UnwindRule> ParseUnwindRule(absl::string_view text) {
  UnwindRule rule;
  const size_t every = text.find(kEvery);
  rule.pattern = std::string(text.substr(0, every));
  if (every != absl::string_view::npos &&
      (!absl::SimpleAtoi(text.substr(every + kEvery.size()), &rule.every) || rule.every == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': every= needs a number of entries, such as :every=100"));
  }
  if (!absl::StrContains(rule.pattern, "::")) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' names no method: com.acme.Cache::load"));
  }
  if (const auto filter = FilterOf(rule.pattern); !filter.ok()) return filter.status();
  return rule;
}

std::string UnwindRuleText(const UnwindRule& rule) {
  return rule.every == 1 ? rule.pattern : absl::StrCat(rule.pattern, kEvery, rule.every);
}

absl::StatusOr<UnwindRules> UnwindRules::Create(const std::vector<UnwindRule>& rules) {
  UnwindRules made;
  std::vector<std::string> patterns;
  for (const UnwindRule& rule : rules) {
    auto filter = FilterOf(rule.pattern);
    if (!filter.ok()) return filter.status();
    made.rules_.push_back({*std::move(filter), rule.every, rule.pattern});
    patterns.push_back(rule.pattern);
  }
  if (patterns.empty()) return made;
  auto all = classfile::ScopeFilter::Create(patterns, {});
  if (!all.ok()) return all.status();
  made.methods_ = *std::move(all);
  return made;
}

// No rule matches java.lang.invoke, because the unwind probe itself uses method handles.
bool UnwindRules::MayMatchClass(std::string_view internal_name) const {
  return !rules_.empty() && !internal_name.starts_with(kOwnPackage) &&
         methods_.MayMatchClass(internal_name);
}

bool UnwindRules::Matches(size_t rule, std::string_view internal_name,
                          std::string_view method) const {
  return rules_[rule].methods.Includes(internal_name, method);
}

uint32_t UnwindRules::EveryOf(std::string_view internal_name, std::string_view method) const {
  for (const Rule& rule : rules_) {
    if (rule.methods.Includes(internal_name, method)) return rule.every;
  }
  return 1;
}

}  // namespace jtrace
