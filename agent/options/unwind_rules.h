// The option unwind= (instrumented unwinds, S3.8): at which methods' entries the stack is walked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/scope_filter.h"

namespace jtrace {

struct UnwindRule {
  std::string pattern;  // "com.acme.Cache::load"
  uint32_t every = 1;   // the stack is walked at every Nth entry

  bool operator==(const UnwindRule&) const = default;
};

// "com.acme.Cache::load:every=100". The error says what is wrong with it.
absl::StatusOr<UnwindRule> ParseUnwindRule(absl::string_view text);
std::string UnwindRuleText(const UnwindRule& rule);

// Rules for matching methods. Immutable: any thread.
class UnwindRules {
 public:
  UnwindRules() = default;
  static absl::StatusOr<UnwindRules> Create(const std::vector<UnwindRule>& rules);

  bool empty() const { return rules_.empty(); }
  // Returns a filter for the methods of all rules.
  const classfile::ScopeFilter& methods() const { return methods_; }
  bool MayMatchClass(std::string_view internal_name) const;
  // The rules, in the order of the option.
  size_t size() const { return rules_.size(); }
  const std::string& pattern(size_t rule) const { return rules_[rule].pattern; }
  bool Matches(size_t rule, std::string_view internal_name, std::string_view method) const;
  // Returns UnwindRule::every of the first rule that matches the method.
  uint32_t EveryOf(std::string_view internal_name, std::string_view method) const;

 private:
  struct Rule {
    classfile::ScopeFilter methods;
    uint32_t every;
    std::string pattern;
  };
  std::vector<Rule> rules_;
  classfile::ScopeFilter methods_;
};

}  // namespace jtrace
