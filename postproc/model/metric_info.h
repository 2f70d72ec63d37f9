// What is known of metrics by their names: the one table of units. Traces carry names alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace::postproc {

enum class MetricUnit : uint8_t { kCount, kBytes, kNanoseconds };

struct MetricInfo {
  std::string_view name;
  MetricUnit unit = MetricUnit::kCount;
  std::string_view what;  // for people; empty: not known
};

absl::Span<const MetricInfo> KnownMetrics();

// Of a metric that is not known, the name's ending tells the unit: ".bytes", ".ns". A program's own
// counters ("user.NAME") are counts, whatever their names end in. `name` outlives the result.
MetricInfo InfoOfMetric(std::string_view name);

// "count", "bytes", "ns"
std::string_view MetricUnitName(MetricUnit unit);

}  // namespace jtrace::postproc
