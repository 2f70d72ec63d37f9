#include "agent/options/call_costs.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace jtrace {
namespace {

constexpr absl::string_view kRules =
#include "call_costs.inc"
    ;

using Cost = proto::Routine::Cost;

struct ClassName {
  absl::string_view name;
  std::optional<Cost> cost;
};
constexpr ClassName kClasses[] = {{"none", std::nullopt},
                                  {"fixed", proto::Routine::FIXED},
                                  {"variable", proto::Routine::VARIABLE},
                                  {"indeterminate", proto::Routine::INDETERMINATE},
                                  {"user-input", proto::Routine::USER_INPUT}};

// The pieces between stars must occur in order, the first at the start and the last at the end.
bool Matches(absl::string_view pattern, absl::string_view text) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == text;
  if (!absl::StartsWith(text, pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  while (true) {
    const size_t next = pattern.find('*');
    if (next == absl::string_view::npos) return absl::EndsWith(text, pattern);
    const size_t found = text.find(pattern.substr(0, next));
    if (found == absl::string_view::npos) return false;
    text.remove_prefix(found + next);
    pattern.remove_prefix(next + 1);
  }
}

}  // namespace

absl::Status CallCosts::Add(absl::string_view text, std::vector<Rule>& rules) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const ClassName* known = nullptr;
    for (const ClassName& it : kClasses) {
      if (it.name == words[0]) known = &it;
    }
    if (known == nullptr || words.size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number, " is not 'fixed|variable|indeterminate|user-input|none PATTERN'"));
    }
    rules.push_back({std::string(words[1]), known->cost});
  }
  return absl::OkStatus();
}

const CallCosts& CallCosts::Default() {
  static const CallCosts* const costs = [] {
    auto* made = new CallCosts();
    Add(kRules, made->rules_).IgnoreError();  // a test reads them
    return made;
  }();
  return *costs;
}

absl::StatusOr<CallCosts> CallCosts::WithRules(absl::string_view text) {
  CallCosts costs = Default();
  if (absl::Status status = Add(text, costs.rules_); !status.ok()) return status;
  return costs;
}

std::optional<Cost> CallCosts::Of(absl::string_view callee) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (Matches(rule->pattern, callee)) return rule->cost;
  }
  return proto::Routine::UNCLASSIFIED;
}

}  // namespace jtrace
