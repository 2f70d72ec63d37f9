#include "native-tests/support/naive_tree.h"

#include <algorithm>
#include <vector>

namespace jtrace::testing {

void Walk(const NaiveNode& node, int level, const Visit& visit, const std::string& metric) {
  visit(node, level);
  std::vector<const NaiveNode*> sorted;
  for (const auto& child : node.children) sorted.push_back(child.get());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const NaiveNode* a, const NaiveNode* b) {
    if (a->CumMetric(metric) != b->CumMetric(metric)) {
      return a->CumMetric(metric) > b->CumMetric(metric);
    }
    if (a->Cum() != b->Cum()) return a->Cum() > b->Cum();
    if (a->CumTicks() != b->CumTicks()) return a->CumTicks() > b->CumTicks();
    if (a->calls != b->calls) return a->calls > b->calls;
    return a->name < b->name;
  });
  for (const NaiveNode* child : sorted) Walk(*child, level + 1, visit, metric);
}

}  // namespace jtrace::testing
