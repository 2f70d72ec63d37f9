// What the threads of a JVM have counted, read once, as `jtrace metrics` shows it.
//
// Any thread, never a signal handler.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/metrics/metric.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

// A metric that somebody counts.
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

// `name_of` is asked for each thread, with no lock held; threads without a name in it (nullopt) are
// left out.
MetricsReport CollectMetrics(
    const ThreadCounters& counters,
    absl::FunctionRef<std::optional<std::string>(const ThreadValues&)> name_of);

// Lists only the `most` busiest threads and sums the others.
void SumThreadsBeyond(size_t most, MetricsReport& report);

}  // namespace jtrace::metrics
