// Classifies calls out of scope by what their time depends on (S4.2): a list of rules,
// call_costs.txt, which is compiled in and which costs=FILE extends. The list describes its own
// format. Immutable once made; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace.pb.h"

namespace jtrace {

// Where a call says how many elements it gets: nowhere, or by its last argument.
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
  // The built-in rules followed by those of `text`. Errors: the line that is not a rule.
  static absl::StatusOr<CallCosts> WithRules(absl::string_view text);

  // Nothing: the call gets no probe. `callee`: "java.util.HashMap.put".
  std::optional<CallCost> Of(absl::string_view callee) const;

  // Calls are then counted by group, and nothing is measured.
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
