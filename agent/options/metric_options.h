// The option metrics=: what a recording has besides calls, times and samples (metrics, S5.3). Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metric.h"

namespace jtrace {

// Adds the names in "alloc.bytes;user.orders" to `names`, and NAME with elapsed.NAME.
// InvalidArgument, which names the nearest metric: there is no such one.
absl::Status ParseMetricNames(absl::string_view value, std::vector<std::string>& names);

// Returns the first of `metrics` for which the JVM reports every object; "": none.
absl::string_view MetricOfObjects(const std::vector<std::string>& metrics);

// Whether alloc.sites is among `metrics`: it needs probes at allocations.
bool CountsAllocationSites(const std::vector<std::string>& metrics);

// Returns the first of `metrics` that is summed over all threads (elapsed.NAME); "": none.
absl::string_view MetricOfAllThreads(const std::vector<std::string>& metrics);

// Returns the first of `metrics` that only probes around calls out of scope count; "": none.
absl::string_view MetricOfBoundaryCalls(const std::vector<std::string>& metrics);

// Returns `metrics` and, as far as call paths have room, those of calls out of scope: their
// elements, and with `with_time` their time.
std::vector<std::string> WithBoundaryMetrics(std::vector<std::string> metrics, bool with_time);

// Whether `metrics` has that metric's name.
bool HasMetric(const std::vector<std::string>& metrics, metrics::Metric metric);

// The table of metrics for people: unit, exactness, cost.
std::string MetricsHelp();

}  // namespace jtrace
