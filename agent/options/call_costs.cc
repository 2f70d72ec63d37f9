#include "agent/options/call_costs.h"

#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace jtrace {
namespace {

constexpr absl::string_view kRules =
#include "call_costs.inc"
    ;

// The cost in cycles of calls whose rule has no number.
constexpr uint32_t kFixedCycles = 10;
constexpr uint32_t kVariableCycles = 100;
constexpr double kMaxCycles = 1e6;

struct Group {
  absl::string_view name;
  std::optional<CallCost> cost;
  bool has_cycles = false;
  bool has_elements = false;
};
constexpr Group kGroups[] = {
    {"none", std::nullopt},
    {"fixed", CallCost{proto::Routine::FIXED, kFixedCycles}, true},
    {"variable", CallCost{proto::Routine::VARIABLE, kVariableCycles}, true, true},
    {"indeterminate", CallCost{proto::Routine::INDETERMINATE}},
    {"user-input", CallCost{proto::Routine::USER_INPUT}}};

const Group* FindGroup(absl::string_view name) {
  for (const Group& it : kGroups) {
    if (it.name == name) return &it;
  }
  return nullptr;
}

bool ParseCycles(absl::string_view text, double& cycles) {
  const bool is_plain = text.find_first_not_of("0123456789.") == absl::string_view::npos;
  return is_plain && absl::SimpleAtod(text, &cycles) && cycles <= kMaxCycles;
}

// "20", or "20+0.25n" and "20+0.5len" if the cost may depend on elements.
bool ParseCost(absl::string_view text, bool has_elements, CallCost& cost) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('+', 1));
  if (!absl::SimpleAtoi(parts.first, &cost.cycles) || cost.cycles > kMaxCycles) return false;
  if (parts.first.size() == text.size()) return true;
  double of_each = 0;
  absl::string_view elements = parts.second;
  cost.elements = absl::ConsumeSuffix(&elements, "len") ? Elements::kLength
                  : absl::ConsumeSuffix(&elements, "n") ? Elements::kNumber
                                                        : Elements::kNone;
  if (!has_elements || cost.elements == Elements::kNone || !ParseCycles(elements, of_each)) {
    return false;
  }
  cost.millicycles_per_element = static_cast<uint32_t>(std::lround(of_each * 1000));
  return true;
}

// Whether the pieces between stars occur in order, the first at the start and the last at the end.
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
    const Group* group = FindGroup(words[0]);
    std::optional<CallCost> cost = group != nullptr ? group->cost : std::nullopt;
    const bool is_rule = group != nullptr &&
                         (words.size() == 2 || (words.size() == 3 && group->has_cycles &&
                                                ParseCost(words[2], group->has_elements, *cost)));
    if (!is_rule) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number,
                       " is not 'fixed|variable|indeterminate|user-input|none PATTERN'; CYCLES may "
                       "follow: fixed a.b 20, variable a.b 20+0.25n, variable a.b 20+0.5len"));
    }
    rules.push_back({std::string(words[1]), cost});
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

void CallCosts::KeepOnlyGroups() {
  for (Rule& rule : rules_) {
    if (rule.cost.has_value()) rule.cost = CallCost{rule.cost->group};
  }
}

std::optional<CallCost> CallCosts::Of(absl::string_view callee) const {
  for (size_t i = rules_.size(); i-- > 0;) {
    if (Matches(rules_[i].pattern, callee)) return rules_[i].cost;
  }
  return CallCost();
}

}  // namespace jtrace
