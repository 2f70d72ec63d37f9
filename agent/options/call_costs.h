// What the time of a call out of scope depends on (S4.2): a list of rules, call_costs.txt, which is
// compiled in and to which costs=FILE adds. Data, not code: see the list for its form.
// Immutable once made; any thread.
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
  // The rules that come with jtrace.
  static const CallCosts& Default();
  // Those and the rules of `text` behind them. Errors: the line that is no rule.
  static absl::StatusOr<CallCosts> WithRules(absl::string_view text);

  // Nothing: the call shall have no probe. `callee`: "java.util.HashMap.put".
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
