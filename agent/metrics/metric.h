// The metrics that jtrace knows (S5.3): their names, units, how exact they are and what they cost.
//
// Pure. Numbers are those of signal_safe::CounterBlock::cum and of the Java API.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "absl/strings/string_view.h"
#include "agent/signal_safe/counter_block.h"

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
  kOutsideElements,
  kLiveObjects,
  kFreedObjects,
};
static_assert(static_cast<uint32_t>(Metric::kOutside) == signal_safe::kOutsideNanos &&
              static_cast<uint32_t>(Metric::kOutsideElements) == signal_safe::kOutsideElements);
// User counters have the numbers from here to signal_safe::kMaxMetrics - 1.
inline constexpr uint32_t kFirstUser = 32;

constexpr bool IsUser(uint32_t metric) { return metric >= kFirstUser; }

// elapsed.NAME: the number of NAME and signal_safe::kElapsed. Known by call path only.
inline constexpr absl::string_view kElapsedPrefix = "elapsed.";
constexpr bool IsElapsed(uint32_t metric) { return metric >= signal_safe::kElapsed; }

// Of a set of metrics.
constexpr uint64_t Bit(Metric metric) { return 1ull << static_cast<unsigned>(metric); }

// Objects that a collection found dead, and the others.
inline constexpr uint64_t kLives = Bit(Metric::kLiveBytes) | Bit(Metric::kFreedBytes) |
                                   Bit(Metric::kLiveObjects) | Bit(Metric::kFreedObjects);

// What probes count by themselves.
inline constexpr uint64_t kOfProbes =
    Bit(Metric::kAllocSites) | Bit(Metric::kOutside) | Bit(Metric::kOutsideElements);

// A current value, not a sum.
constexpr bool IsLevel(Metric metric) {
  return metric == Metric::kLiveBytes || metric == Metric::kLiveObjects;
}

// The levels at which a metric's values are known.
enum class Reach : uint8_t {
  kPath,     // by call path, thread and process
  kThread,   // by thread and process
  kProcess,  // as one total; those of kLives in traces by call path, too
};

// The source of its values.
enum class Source : uint8_t {
  kJavaThread,  // the JVM's own structure for the thread: read when a value is requested
  kCounted,     // events, added to CounterBlock::cum
  kKernel,      // read from the kernel when a value is requested
  kTree,        // the call trees
};

// A metric's properties.
struct MetricInfo {
  Metric metric;
  absl::string_view name;  // "alloc.bytes"
  absl::string_view unit;  // "B", "ns"; "" for numbers of things
  Reach reach;
  Source source;
  absl::string_view exactness;  // one clause for people
  absl::string_view cost;       // the same
  absl::string_view what;
};

// Whether probes charge it to call paths: the trees know theirs anyway.
inline bool IsChargedToPaths(const MetricInfo& info) {
  return info.reach == Reach::kPath && info.source != Source::kTree;
}

// In the order of their numbers.
std::span<const MetricInfo> AllMetrics();
const MetricInfo& InfoOf(Metric metric);
std::optional<Metric> FindMetric(absl::string_view name);

absl::string_view ReachName(Reach reach);

}  // namespace jtrace::metrics
