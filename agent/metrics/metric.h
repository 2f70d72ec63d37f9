// The metrics that jtrace knows (S5.3): their names, units, how exact they are and what they cost.
//
// Pure. Numbers are those of signal_safe::MetricCounts::counts and of the Java API.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/strings/string_view.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::metrics {

enum class Metric : uint8_t {
  kAllocBytes,
  kAllocObjects,
  kAllocSites,
  kLiveBytes,
  kFreedBytes,
  kCpu,
  kWall,
  kOffCpu,
  kSwitches,
  kCalls,
  kExceptions,
  kMonitorWait,
  kGc,
  kPageFaults,
  kReadBytes,
  kWrittenBytes,
  kJit,
  kJavaReadBytes,
  kJavaWrittenBytes,
  kJavaIo,
  kPathFaults,
  kPathSwitches,
  kPathCycles,
  kPathInstructions,
  kPathCacheMisses,
  kOutside,
  kBoundaryElements,
  kLiveObjects,
  kFreedObjects,
};
static_assert(static_cast<uint32_t>(Metric::kOutside) == signal_safe::kBoundaryNanos &&
              static_cast<uint32_t>(Metric::kBoundaryElements) == signal_safe::kBoundaryElements);
// User counters have the numbers from here to signal_safe::kMaxMetrics - 1.
inline constexpr uint32_t kFirstUser = 32;

constexpr bool IsUser(uint32_t metric) { return metric >= kFirstUser; }

// The metric elapsed.NAME has the number of NAME plus signal_safe::kElapsed. It is known only by
// call path.
inline constexpr absl::string_view kElapsedPrefix = "elapsed.";
constexpr bool IsElapsed(uint32_t metric) { return metric >= signal_safe::kElapsed; }

// The bit of a metric in a set of metrics.
constexpr uint64_t Bit(Metric metric) { return 1ull << static_cast<unsigned>(metric); }

// Metrics of single objects, those that a collection found dead and those that live.
inline constexpr uint64_t kTaggedObjectMetrics =
    Bit(Metric::kLiveBytes) | Bit(Metric::kFreedBytes) | Bit(Metric::kLiveObjects) |
    Bit(Metric::kFreedObjects);

// Metrics that the probes count without another source.
inline constexpr uint64_t kProbeMetrics =
    Bit(Metric::kAllocSites) | Bit(Metric::kOutside) | Bit(Metric::kBoundaryElements);

// Returns whether the metric is a current value, which may fall, and not a sum.
constexpr bool IsLevel(Metric metric) {
  return metric == Metric::kLiveBytes || metric == Metric::kLiveObjects;
}

// The levels at which a metric's values are known.
enum class Reach : uint8_t {
  kPath,     // by call path, thread and process
  kThread,   // by thread and process
  kProcess,  // as one total; traces have those of kTaggedObjectMetrics by call path, too
};

// The source of its values.
enum class MetricOrigin : uint8_t {
  kJavaThread,  // the JVM's own structure for the thread: read when a value is requested
  kCounted,     // events, added to MetricCounts::counts
  kKernel,      // read from the kernel when a value is requested
  kTree,        // the call trees
};

// A metric's properties.
struct MetricInfo {
  Metric metric;
  absl::string_view name;  // "alloc.bytes"
  absl::string_view unit;  // "B", "ns"; "" for numbers of things
  Reach reach;
  MetricOrigin origin;
  absl::string_view exactness;  // one clause for people
  absl::string_view cost;       // one clause for people
  absl::string_view what;
};

// Returns whether probes charge the metric to call paths; the trees' own counts need no charge.
inline bool IsChargedToPaths(const MetricInfo& info) {
  return info.reach == Reach::kPath && info.origin != MetricOrigin::kTree;
}

// Returns all metrics but user counters, in the order of their numbers.
std::span<const MetricInfo> AllMetrics();
const MetricInfo& InfoOf(Metric metric);
std::optional<Metric> FindMetric(absl::string_view name);

absl::string_view ReachName(Reach reach);

}  // namespace jtrace::metrics
