// Classifies calls out of scope by what their time depends on (S4.2): a list of rules,
// call_costs.txt, which is compiled in and which costs=FILE extends. The list describes its own
// format. Immutable once made; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace.pb.h"

namespace jtrace {

class CallCosts {
 public:
  // The built-in rules.
  static const CallCosts& Default();
  // The built-in rules followed by those of `text`. Errors: the line that is not a rule.
  static absl::StatusOr<CallCosts> WithRules(absl::string_view text);

  // Nothing: the call gets no probe. `callee`: "java.util.HashMap.put".
  std::optional<proto::Routine::Cost> Of(absl::string_view callee) const;

 private:
  struct Rule {
    std::string pattern;
    std::optional<proto::Routine::Cost> cost;
  };
  static absl::Status Add(absl::string_view text, std::vector<Rule>& rules);

  std::vector<Rule> rules_;
};

}  // namespace jtrace
