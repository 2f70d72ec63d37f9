#include "agent/calls/trees/pruned_totals.h"

#include <algorithm>
#include <utility>

namespace jtrace::calls {
namespace {

// Time without calls is of activations that began in earlier files: extremes are not known.
bool HasExtremes(const PrunedTotals::Sum& sum) {
  return sum.has_extremes && (sum.calls != 0 || sum.values.base == 0);
}

}  // namespace

NodeValues PrunedTotals::Sum::ReportedValues() const {
  NodeValues reported = values;
  if (!has_extremes) {
    reported.least = 0;
    reported.greatest = reported.base;
  }
  return reported;
}

void PrunedTotals::Add(signal_safe::Ref keeper, uint32_t routine, const Sum& counted,
                       uint32_t& last_number) {
  // Nodes without counts in this file are not reported.
  if (counted.calls == 0 && !counted.values.any() && counted.blocks.empty()) return;
  Below& below = by_keeper_[keeper];
  const auto [entry, inserted] = below.sums.try_emplace(routine);
  Sum& sum = entry->second;
  if (inserted) {
    sum.number = ++last_number;
    ++sum_count_;
  }
  sum.has_extremes = HasExtremes(sum) && HasExtremes(counted);
  sum.values.least =
      sum.calls == 0 ? counted.values.least : std::min(sum.values.least, counted.values.least);
  sum.values.greatest = std::max(sum.values.greatest, counted.values.greatest);
  sum.values.AddTotals(counted.values);
  sum.blocks.Add(counted.blocks);
  sum.calls += counted.calls;
  sum.jitted += counted.jitted;
  if (below.changed.empty()) changed_.push_back(keeper);
  if (!std::exchange(sum.changed, true)) below.changed.push_back(routine);
}

void PrunedTotals::MoveUp(signal_safe::Ref keeper, signal_safe::Ref next_keeper,
                          uint32_t& last_number, absl::FunctionRef<void(uint32_t)> was_reported) {
  const auto found = by_keeper_.find(keeper);
  if (found == by_keeper_.end()) return;
  const Below below = std::move(found->second);
  by_keeper_.erase(found);
  sum_count_ -= below.sums.size();
  if (below.number != 0 && !below.is_new) was_reported(below.number);
  for (const auto& [routine, sum] : below.sums) {
    if (!sum.is_new) was_reported(sum.number);
    Add(next_keeper, routine, sum, last_number);
  }
}

void PrunedTotals::Erase(signal_safe::Ref keeper) {
  const auto found = by_keeper_.find(keeper);
  if (found == by_keeper_.end()) return;
  sum_count_ -= found->second.sums.size();
  by_keeper_.erase(found);
}

void PrunedTotals::ForEachChanged(absl::FunctionRef<void(signal_safe::Ref, Below&)> visit) {
  for (const signal_safe::Ref keeper : changed_) {
    const auto found = by_keeper_.find(keeper);
    if (found == by_keeper_.end()) continue;  // the keeper was dropped since
    Below& below = found->second;
    visit(keeper, below);
    below.is_new = false;
    for (const uint32_t routine : below.changed) {
      Sum& sum = below.sums.at(routine);
      sum.is_new = sum.changed = false;
    }
    below.changed.clear();
  }
  changed_.clear();
}

void PrunedTotals::BeginFile() {
  for (auto& [keeper, below] : by_keeper_) {
    below.is_new = true;
    below.changed.clear();
    for (auto& [routine, sum] : below.sums) sum = {.number = sum.number};
  }
  changed_.clear();
}

}  // namespace jtrace::calls
