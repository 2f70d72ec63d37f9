// What threads have counted, for programs: as JSON or for Prometheus. `jtrace metrics` makes a
// table for people of the JSON. Pure.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metrics_report.h"

namespace jtrace::metrics {

// One JSON object:
// {"pid":…,"ended_threads":…,
//  "metrics":[{"name":…,"unit":…,"what":…,"by_thread":…,"process":…,"ended":…}],
//  "threads":[{"name":…,"java_tid":…,"os_tid":…,"virtual":…,"partial":…,"totals":{NAME:…}}],
//  "more":{"threads":…,"totals":{NAME:…}}}
// Integers are unrounded; what is unknown is left out.
std::string MetricsAsJson(const MetricsReport& report);

// Prometheus's text exposition format 0.0.4. Times are in seconds, as its conventions want it.
// Two families a metric: jtrace_process_NAME_total, and jtrace_NAME_total by thread, where threads
// that ended are one series, thread="(ended)" with tid="0".
std::string MetricsAsPrometheus(const MetricsReport& report);

// The value of --format=.
struct MetricsFormat {
  enum Kind { kJson, kPrometheus } kind = kJson;
  // A JVM may have more threads than an answer of the control socket can hold.
  size_t threads = std::numeric_limits<size_t>::max();
};
// "--format=json|prometheus --threads=N": each may be missing. InvalidArgument: anything else.
absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view options);
// JSON lists at most format.threads threads and sums the others.
std::string Format(MetricsReport report, const MetricsFormat& format);

// `text`, modified UTF-8 as JVMTI hands it out (or anything else), as UTF-8: pairs of surrogates
// become the characters that they stand for, invalid bytes become U+FFFD.
std::string Utf8Of(absl::string_view text);

// A label's value in the exposition format of Prometheus, without quotes.
std::string PrometheusLabel(absl::string_view utf8);

}  // namespace jtrace::metrics
