#include "postproc/diff/line_diff.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/types/span.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// One method, maybe of several loaders.
struct MethodCost {
  uint64_t whole = 0;
  Methods methods;
};
using CostsByName = absl::btree_map<std::string, MethodCost>;

uint64_t CostOf(const LineCounts& line, LineCost cost) {
  return cost == LineCost::kInstructions ? line.instructions : line.cycles;
}

uint64_t CostOf(const MethodLines& method, LineCost cost) {
  return cost == LineCost::kInstructions ? method.instructions : method.cycles;
}

CostsByName CostsOf(const LineProfile& profile, LineCost cost) {
  CostsByName costs;
  for (const MethodLines& method : profile.methods) {
    MethodCost& entry = costs[FullName(method)];
    entry.whole = AddCounts(entry.whole, CostOf(method, cost));
    entry.methods.push_back(&method);
  }
  return costs;
}

using LineSpan = absl::Span<const LineCounts>;

// Drops the lines at both ends that cost the same.
void TrimEqual(LineSpan& before, LineSpan& after, LineCost cost) {
  while (!before.empty() && !after.empty() &&
         CostOf(before.front(), cost) == CostOf(after.front(), cost)) {
    before.remove_prefix(1);
    after.remove_prefix(1);
  }
  while (!before.empty() && !after.empty() &&
         CostOf(before.back(), cost) == CostOf(after.back(), cost)) {
    before.remove_suffix(1);
    after.remove_suffix(1);
  }
}

void AddChange(std::string name, uint64_t before, uint64_t after,
               std::vector<LineChange>& changes) {
  if (before != after) changes.push_back({std::move(name), before, after});
}

// Lines of the middle are the same if they are as far from its first line.
void CompareMiddle(const std::string& method, LineSpan before, LineSpan after, LineCost cost,
                   std::vector<LineChange>& changes) {
  const auto name = [&](int32_t line) { return StrCat(method, ":", line); };
  const int64_t first_before = before.empty() ? 0 : before.front().line;
  const int64_t first_after = after.empty() ? 0 : after.front().line;
  while (!before.empty() || !after.empty()) {
    const int64_t at_before = before.empty() ? 0 : before.front().line - first_before;
    const int64_t at_after = after.empty() ? 0 : after.front().line - first_after;
    const bool takes_before = !before.empty() && (after.empty() || at_before <= at_after);
    const bool takes_after = !after.empty() && (before.empty() || at_after <= at_before);
    AddChange(name(takes_after ? after.front().line : before.front().line),
              takes_before ? CostOf(before.front(), cost) : 0,
              takes_after ? CostOf(after.front(), cost) : 0, changes);
    if (takes_before) before.remove_prefix(1);
    if (takes_after) after.remove_prefix(1);
  }
}

void CompareMethod(const std::string& name, const MethodCost& before, const MethodCost& after,
                   LineCost cost, std::vector<LineChange>& changes) {
  if (before.whole == after.whole) return;
  const std::vector<LineCounts> lines_before = MergeLines(before.methods);
  const std::vector<LineCounts> lines_after = MergeLines(after.methods);
  if (lines_before.empty() && lines_after.empty()) {
    AddChange(name, before.whole, after.whole, changes);
    return;
  }
  LineSpan span_before = lines_before;
  LineSpan span_after = lines_after;
  TrimEqual(span_before, span_after, cost);
  CompareMiddle(name, span_before, span_after, cost, changes);
}

}  // namespace

uint64_t TotalCost(const LineProfile& profile, LineCost cost) {
  uint64_t sum = 0;
  for (const MethodLines& method : profile.methods) sum = AddCounts(sum, CostOf(method, cost));
  return sum;
}

std::vector<LineChange> ChangedLines(const LineProfile& before, const LineProfile& after,
                                     LineCost cost) {
  const CostsByName costs_before = CostsOf(before, cost);
  const CostsByName costs_after = CostsOf(after, cost);
  const MethodCost none;
  std::vector<LineChange> changes;
  for (const auto& [name, of_before] : costs_before) {
    const auto found = costs_after.find(name);
    CompareMethod(name, of_before, found == costs_after.end() ? none : found->second, cost,
                  changes);
  }
  for (const auto& [name, of_after] : costs_after) {
    if (!costs_before.contains(name)) CompareMethod(name, none, of_after, cost, changes);
  }
  std::stable_sort(changes.begin(), changes.end(), [](const LineChange& a, const LineChange& b) {
    return a.magnitude() > b.magnitude();
  });
  return changes;
}

}  // namespace jtrace::postproc
