#include "postproc/findings/rules.h"

#include <algorithm>
#include <utility>

namespace jtrace::postproc {

std::string_view ShareOfName(ShareOf of) {
  constexpr std::string_view kNames[] = {"time", "calls", "real time"};
  return kNames[static_cast<size_t>(of)];
}

absl::Span<const Rule* const> AllRules() {
  static constexpr const Rule* kRules[] = {&kCostlySetup,  &kExceptions, &kMonitors,
                                           &kClassLoading, &kBoxing,     &kNotInlined,
                                           &kDiscardedCode};
  return kRules;
}

Findings FindAll(const ReportInput& input) {
  const Facts facts(input);
  Findings all;
  for (const Rule* rule : AllRules()) {
    if (!rule->has_data(facts)) {
      all.not_recorded.push_back(rule);
      continue;
    }
    std::vector<Finding> findings;
    rule->find(facts, findings);
    for (Finding& finding : findings) all.found.push_back({rule, std::move(finding)});
  }
  std::stable_sort(all.found.begin(), all.found.end(), [](const Found& a, const Found& b) {
    return a.finding.share > b.finding.share;
  });
  return all;
}

}  // namespace jtrace::postproc
