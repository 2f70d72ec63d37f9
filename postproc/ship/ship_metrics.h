// What the shipper says of itself, for Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"

namespace jtrace::ship {

struct TargetCounts {
  uint64_t delivered = 0;
  uint64_t refused = 0;                 // traces that it will never take
  uint64_t retries = 0;                 // failures of the target
  uint64_t bytes = 0;                   // sent
  bool works = true;                    // the last try was taken
  absl::Time last = absl::UnixEpoch();  // delivery
};

struct ShipMetrics {
  std::map<std::string, TargetCounts> targets;  // by name
  uint64_t shipped = 0;                         // traces that all targets have
  uint64_t failed = 0;                          // set aside
  uint64_t dropped = 0;                         // for the budget of the spool
  uint64_t dropped_bytes = 0;
  // Now.
  uint64_t waiting = 0;
  uint64_t waiting_bytes = 0;
  uint64_t recording = 0;
  uint64_t unreadable = 0;    // of another user
  double oldest_seconds = 0;  // of those that wait
};

// What the system says of this process and of those that it ran.
struct ProcessCost {
  double own_seconds = 0;
  double children_seconds = 0;
  uint64_t resident_bytes = 0;
  uint64_t children_peak_bytes = 0;  // of the largest one so far
};
ProcessCost CostOfThisProcess();

// In Prometheus' text format, version 0.0.4.
std::string MetricsText(const ShipMetrics& metrics, const ProcessCost& cost);

}  // namespace jtrace::ship
