// Reads what the threads of a JVM have counted, for `jtrace metrics`, as JSON or for Prometheus.
//
// Any thread, never a signal handler.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/metrics/metric.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

// A metric that is counted now.
struct ReportedMetric {
  uint32_t number = 0;
  std::string name = {};  // "alloc.bytes"
  std::string unit = {};  // "B", "ns"; "" for numbers of things
  std::string what = {};  // one clause; "" if unknown
  bool may_fall = false;
  bool by_thread = false;
  int64_t process = 0;                // all threads that ever ran
  std::optional<int64_t> ended = {};  // those of them that ended
};

// A thread's counts.
struct ReportedThread {
  std::string name = {};
  uint64_t java_tid = 0;  // 0: a native thread
  pid_t os_tid = 0;       // 0: a virtual thread
  bool is_partial = false;
  // By MetricsReport::metrics; none: not known of such a thread.
  std::vector<std::optional<int64_t>> values = {};
};

struct MetricsReport {
  pid_t pid = 0;
  std::vector<ReportedMetric> metrics = {};
  std::vector<ReportedThread> threads = {};  // the busiest first
  // Threads that are not listed, and the sums of their values.
  uint64_t more_threads = 0;
  std::vector<std::optional<int64_t>> more = {};
  uint64_t ended_threads = 0;  // Java threads that ended
};

// Reads all metrics that are counted now. Calls `name_of` for each thread, with no lock held; a
// thread for which it returns nullopt is left out.
MetricsReport CollectMetrics(
    const ThreadCounters& counters,
    absl::FunctionRef<std::optional<std::string>(const ThreadValues&)> name_of);

// Lists only the `most` busiest threads and sums the others.
void SumThreadsBeyond(size_t most, MetricsReport& report);

// Returns the report as one JSON object, of which `jtrace metrics` makes a table for people:
// {"pid":…,"ended_threads":…,
//  "metrics":[{"name":…,"unit":…,"what":…,"by_thread":…,"process":…,"ended":…}],
//  "threads":[{"name":…,"java_tid":…,"os_tid":…,"virtual":…,"partial":…,"totals":{NAME:…}}],
//  "more":{"threads":…,"totals":{NAME:…}}}
// Integers are not rounded; unknown values are left out.
std::string MetricsAsJson(const MetricsReport& report);

// Returns the report in Prometheus's text exposition format 0.0.4. Times are in seconds, by its
// conventions. Two families a metric: jtrace_process_NAME_total, and jtrace_NAME_total by thread,
// where threads that ended are one series, thread="(ended)" with tid="0".
std::string MetricsAsPrometheus(const MetricsReport& report);

// The value of --format=.
struct MetricsFormat {
  enum Kind { kJson, kPrometheus } kind = kJson;
  // A JVM may have more threads than an answer of the control socket can hold.
  size_t threads = std::numeric_limits<size_t>::max();
};
// "--format=json|prometheus --threads=N": each may be missing. InvalidArgument: anything else.
absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view options);
// Returns the report in that format. JSON lists at most format.threads threads and sums the others.
std::string Format(MetricsReport report, const MetricsFormat& format);

// Returns `text`, modified UTF-8 as JVMTI hands it out (or anything else), as UTF-8: pairs of
// surrogates become the characters that they stand for, invalid bytes become U+FFFD.
std::string Utf8Of(absl::string_view text);

// Escapes a label's value for the exposition format of Prometheus; adds no quotes.
std::string PrometheusLabel(absl::string_view utf8);

}  // namespace jtrace::metrics
