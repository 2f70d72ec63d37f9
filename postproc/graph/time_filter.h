// The time filter of a call graph (S4.10): the least share of the whole that a function must have,
// itself and its descendants, to be shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jtrace::postproc {

constexpr double kGreatestTimeFilter = 20;  // percent
constexpr int kTimeFilterStepsPerPercent = 10;
constexpr size_t kFunctionsShownAtFirst = 30;
constexpr int kFewestShownAtFirst = 3;

// The initial filter, in percent: the total of the 30th function, rounded up to the next step, at
// most 20. So at most 30 functions have that much, unless several have the 30th's total or 30 have
// more than 20 %. Where the rounding hides nearly all, because many have about the 30th's total, it
// is the step below: all of those are shown. 0 if there are no more than 30. `totals` in any order.
double FirstTimeFilter(std::vector<int64_t> totals, int64_t whole);

}  // namespace jtrace::postproc
