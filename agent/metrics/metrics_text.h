// What threads have counted, for people and for programs. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metrics_report.h"

namespace jtrace::metrics {

// The process's totals to the last digit, then threads, the busiest first, in rounded numbers. No
// line is wider than `columns` (at least 60); metrics that do not fit go below in a table of their
// own.
std::string MetricsAsText(const MetricsReport& report, size_t columns);

// One JSON object:
// {"pid":…,"ended_threads":…,
//  "metrics":[{"name":…,"unit":…,"what":…,"process":…,"ended":…}],
//  "threads":[{"name":…,"java_tid":…,"os_tid":…,"virtual":…,"partial":…,"totals":{NAME:…}}]}
// Integers are unrounded; what is not known is not there.
std::string MetricsAsJson(const MetricsReport& report);

// Prometheus's text exposition format 0.0.4. Times are in seconds, as its conventions want it.
// Two families a metric: jtrace_process_NAME_total, and jtrace_NAME_total by thread, where threads
// that ended are one series, thread="(ended)" with tid="0".
std::string MetricsAsPrometheus(const MetricsReport& report);

// "--format=text|json|prometheus --columns=N", each may be missing.
struct MetricsFormat {
  enum Kind { kText, kJson, kPrometheus } kind = kText;
  size_t columns = 100;
};
// InvalidArgument: anything else.
absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view options);
std::string Format(const MetricsReport& report, const MetricsFormat& format);

}  // namespace jtrace::metrics
