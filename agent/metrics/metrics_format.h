// What threads have counted, for programs: as JSON or for Prometheus. `jtrace metrics` makes a
// table for people of the JSON. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metrics_report.h"

namespace jtrace::metrics {

// One JSON object:
// {"pid":…,"ended_threads":…,
//  "metrics":[{"name":…,"unit":…,"what":…,"by_thread":…,"process":…,"ended":…}],
//  "threads":[{"name":…,"java_tid":…,"os_tid":…,"virtual":…,"partial":…,"totals":{NAME:…}}]}
// Integers are unrounded; what is unknown is left out.
std::string MetricsAsJson(const MetricsReport& report);

// Prometheus's text exposition format 0.0.4. Times are in seconds, as its conventions want it.
// Two families a metric: jtrace_process_NAME_total, and jtrace_NAME_total by thread, where threads
// that ended are one series, thread="(ended)" with tid="0".
std::string MetricsAsPrometheus(const MetricsReport& report);

// The value of --format=.
enum class MetricsFormat { kJson, kPrometheus };
// "", "--format=json" or "--format=prometheus". InvalidArgument: anything else.
absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view option);
std::string Format(const MetricsReport& report, MetricsFormat format);

}  // namespace jtrace::metrics
