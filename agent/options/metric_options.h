// The option metrics=: the metrics that a recording has besides calls, times and samples (S5.3).
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metric.h"

namespace jtrace {

// Adds the names in "alloc.bytes;user.orders" to `names`, and NAME with elapsed.NAME. Unknown
// ones: InvalidArgument with the nearest.
absl::Status ParseMetricNames(absl::string_view value, std::vector<std::string>& names);

// The first of them for which the JVM reports every object; "": none.
absl::string_view MetricOfObjects(const std::vector<std::string>& metrics);

// Whether alloc.sites is among them: it needs probes at allocations.
bool CountsAllocationSites(const std::vector<std::string>& metrics);

// The first of those that are kept for all threads (elapsed.NAME); "": none.
absl::string_view MetricOfAllThreads(const std::vector<std::string>& metrics);

// The first of them that only probes around calls out of scope count; "": none.
absl::string_view MetricOfOutsideCalls(const std::vector<std::string>& metrics);

// With these metrics too, as far as call paths have room.
std::vector<std::string> WithOutsideMetrics(std::vector<std::string> metrics, bool with_time);

// Whether a metric of that name is among them.
bool HasMetric(const std::vector<std::string>& metrics, metrics::Metric metric);

// The table of metrics for people: unit, exactness, cost.
std::string MetricsHelp();

}  // namespace jtrace
