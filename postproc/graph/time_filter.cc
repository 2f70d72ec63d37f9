#include "postproc/graph/time_filter.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "postproc/report/units.h"

namespace jtrace::postproc {

double FirstTimeFilter(std::vector<int64_t> totals, int64_t whole) {
  if (whole <= 0 || totals.size() <= kFunctionsShownAtFirst) return 0;
  const auto nth = totals.begin() + (kFunctionsShownAtFirst - 1);
  std::nth_element(totals.begin(), nth, totals.end(), std::greater<>());
  // A function without any cost passes only filter 0.
  const double steps =
      std::max(1.0, std::ceil(PercentOf(*nth, whole) * kTimeFilterStepsPerPercent - 1e-9));
  const double filter = std::min(steps / kTimeFilterStepsPerPercent, kGreatestTimeFilter);
  const auto shown = std::count_if(totals.begin(), totals.end(), [&](int64_t total) {
    return PercentOf(total, whole) >= filter;
  });
  if (*nth > 0 && shown < kFewestShownAtFirst) return (steps - 1) / kTimeFilterStepsPerPercent;
  return filter;
}

}  // namespace jtrace::postproc
