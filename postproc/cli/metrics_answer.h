// What an agent answers to `metrics`: the totals of a JVM and of its threads. The answer is another
// process's text, which may hold anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace jtrace::control {

struct MetricsAnswer {
  struct Metric {
    std::string name;  // "alloc.bytes"
    std::string unit;  // "B", "ns"; "" for numbers of things
    std::string what;  // one clause, may be empty
    bool by_thread = false;
    int64_t process = 0;           // of all threads that ever ran
    std::optional<int64_t> ended;  // of those of them that ended
  };
  struct Thread {
    std::string name;
    uint64_t java_tid = 0;                       // 0: a native thread
    int64_t os_tid = 0;                          // 0: a virtual thread
    std::vector<std::optional<int64_t>> values;  // by MetricsAnswer::metrics; none: unknown
  };

  int64_t pid = 0;
  uint64_t ended_threads = 0;
  std::vector<Metric> metrics;
  std::vector<Thread> threads;  // the busiest first
  // Threads that are not listed, and the sums of their values by metric.
  uint64_t more_threads = 0;
  std::vector<std::optional<int64_t>> more;
};

// Reads the JSON object that the agent's metrics_format.h describes. Members that are missing or of
// another type count as empty. InvalidArgument: not a JSON object, nested deeper than an answer is,
// or one that would take far more memory than its text.
absl::StatusOr<MetricsAnswer> ParseMetricsAnswer(std::string_view json);

}  // namespace jtrace::control
