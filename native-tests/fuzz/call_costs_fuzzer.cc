// Fuzz target of the rules that costs=FILE adds: the rules, after a 0 byte names of callees, one a
// line. For any input: an error names an existing line; each callee has the cost that a different
// matcher finds.
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "agent/options/call_costs.h"
#include "native-tests/fuzz/require.h"

namespace jtrace::fuzz {
namespace {

// `?` is an ordinary character in rules.
bool Matches(absl::string_view pattern, absl::string_view text) {
  // can_match[i]: the pattern so far matches the first i characters.
  std::vector<bool> can_match(text.size() + 1);
  can_match[0] = true;
  for (const char c : pattern) {
    bool before = can_match[0];
    if (c != '*') can_match[0] = false;
    for (size_t i = 1; i <= text.size(); ++i) {
      const bool is_match =
          c == '*' ? can_match[i] || can_match[i - 1] : before && text[i - 1] == c;
      before = can_match[i];
      can_match[i] = is_match;
    }
  }
  return can_match[text.size()];
}

using Cost = std::optional<proto::Routine::Cost>;

Cost CostOf(absl::string_view word) {
  if (word == "fixed") return proto::Routine::FIXED;
  if (word == "variable") return proto::Routine::VARIABLE;
  if (word == "indeterminate") return proto::Routine::INDETERMINATE;
  if (word == "user-input") return proto::Routine::USER_INPUT;
  Require(word == "none");
  return std::nullopt;
}

Cost GroupOf(const std::optional<CallCost>& cost) {
  return cost.has_value() ? Cost(cost->group) : std::nullopt;
}

// By the last matching rule of `text`, which is free of errors.
Cost BoundedCost(absl::string_view text, absl::string_view callee) {
  Cost cost = GroupOf(CallCosts::Default().Of(callee));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const size_t gap = line.find_first_of(" \t");
    const absl::string_view rest = line.substr(line.find_first_not_of(" \t", gap));
    if (Matches(rest.substr(0, rest.find_first_of(" \t")), callee)) {
      cost = CostOf(line.substr(0, gap));
    }
  }
  return cost;
}

void CheckError(absl::string_view message, absl::string_view text) {
  Require(IsOneLine(message));
  const std::vector<absl::string_view> words = absl::StrSplit(message, ' ');
  int line = 0;
  Require(words.size() > 1 && words[0] == "line" && absl::SimpleAtoi(words[1], &line));
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  Require(line >= 1 && line <= static_cast<int>(lines.size()));
}

}  // namespace
}  // namespace jtrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jtrace::fuzz;  // NOLINT: a fuzz target
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(input, absl::MaxSplits('\0', 1));
  const auto [rules, callees] = parts;
  const auto costs = jtrace::CallCosts::WithRules(rules);
  if (!costs.ok()) {
    CheckError(costs.status().message(), rules);
    return 0;
  }
  for (const absl::string_view callee : absl::StrSplit(callees, '\n')) {
    Require(GroupOf(costs->Of(callee)) == BoundedCost(rules, callee));
  }
  return 0;
}
