// Properties of metrics by their names: the only table of units. Traces contain only names.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace::postproc {

// The unit of a metric's values.
enum class MetricUnit : uint8_t { kCount, kBytes, kNanoseconds };

struct MetricInfo {
  std::string_view name;
  MetricUnit unit = MetricUnit::kCount;
  std::string_view what;  // for people; empty: not known
  // How to record by method what is known by thread; empty: it is known by method, or cannot be.
  std::string_view by_method = {};
};

absl::Span<const MetricInfo> KnownMetrics();

// For an unknown metric, the name's ending gives the unit: ".bytes", ".ns". A program's own
// counters ("user.NAME") are counts, whatever their names end in. `name` outlives the result.
MetricInfo InfoOfMetric(std::string_view name);

// "count", "bytes", "ns"
std::string_view MetricUnitName(MetricUnit unit);

}  // namespace jtrace::postproc
