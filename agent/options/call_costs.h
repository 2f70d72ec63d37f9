// Classifies calls out of scope by what their time depends on (costs of calls, S4.2). The rules are
// in call_costs.txt, which is compiled in and describes its format, and in costs=FILE. Immutable
// once made; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace.pb.h"

namespace jtrace {

// Where the number of elements that a call works on comes from: nowhere, the last argument, or the
// last argument's length.
enum class Elements : uint8_t { kNone, kNumber, kLength };

// What a rule says of a call.
struct CallCost {
  proto::Routine::Cost group = proto::Routine::UNCLASSIFIED;
  uint32_t cycles = 0;
  uint32_t millicycles_per_element = 0;
  Elements elements = Elements::kNone;
  friend bool operator==(const CallCost&, const CallCost&) = default;
};

class CallCosts {
 public:
  // The built-in rules.
  static const CallCosts& Default();
  // The built-in rules followed by those of `text`. An error names the line that is not a rule.
  static absl::StatusOr<CallCosts> WithRules(absl::string_view text);

  // The last rule that matches "java.util.HashMap.put" decides; nullopt: the call gets no probe.
  std::optional<CallCost> Of(absl::string_view callee) const;

  // Drops costs from the rules: calls are then counted by group, and nothing is measured.
  void KeepOnlyGroups();

 private:
  struct Rule {
    std::string pattern;
    std::optional<CallCost> cost;
  };
  static absl::Status Add(absl::string_view text, std::vector<Rule>& rules);

  std::vector<Rule> rules_;
};

}  // namespace jtrace
