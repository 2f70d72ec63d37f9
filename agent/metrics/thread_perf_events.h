// Opens and closes the perf events of each Java thread, for metrics that are charged to call paths
// by the kernel's signals (kernel_event_handler.h).
//
// Threads: Start and Stop one at a time; Attach and Detach on any thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/metrics/kernel_event_handler.h"
#include "agent/metrics/metric.h"

namespace jtrace::metrics {

// A metric's perf event.
struct MetricPerfEvent {
  Metric metric;
  std::string_view name;  // base/perf_event_table.h
  uint64_t period;
};

// `period`: events between two signals. None of these is a clock, so each kernel can stop them at a
// signal (base/perf_event_table.h). It must do so, because real-time signals queue up.
//
// A signal at a context switch ends the wait that the thread was about to begin, so there is one
// signal for four switches.
inline constexpr std::array kMetricPerfEvents = {
    MetricPerfEvent{Metric::kPathFaults, "page-faults", 1},
    MetricPerfEvent{Metric::kPathSwitches, "context-switches", 4},
    MetricPerfEvent{Metric::kPathCycles, "cycles", 1'000'000},
    MetricPerfEvent{Metric::kPathInstructions, "instructions", 1'000'000},
    MetricPerfEvent{Metric::kPathCacheMisses, "cache-misses", 1000},
};

// The metrics that ThreadPerfEvents counts.
inline constexpr uint64_t kPerfEventMetrics = [] {
  uint64_t metrics = 0;
  for (const MetricPerfEvent& event : kMetricPerfEvents) metrics |= Bit(event.metric);
  return metrics;
}();

class ThreadPerfEvents {
 public:
  ThreadPerfEvents() = default;
  // Only for tests: the agent's own is never destroyed. No handler may run any more.
  ~ThreadPerfEvents();
  ThreadPerfEvents(const ThreadPerfEvents&) = delete;
  ThreadPerfEvents& operator=(const ThreadPerfEvents&) = delete;

  // Gives threads their events from here on. Returns those of the metrics `wanted` (bits) that the
  // kernel counts for this process; `refused`: why not the others, for people, and what helps.
  uint64_t Start(uint64_t wanted, std::string& refused);
  // Closes all events; what they have counted since their last signals is lost. Waits up to about
  // 100 ms for handlers.
  void Stop();
  // Returns whether threads get no events now.
  bool is_empty() const { return started_.load(std::memory_order_relaxed) == 0; }

  // Opens the events of a thread of the process; does nothing if it has events or has ended.
  void Attach(pid_t tid);
  // Charges what is not charged yet, and closes the events of the calling thread, which is ending.
  void Detach();
  // Returns how many events could not be opened since Start, mostly for lack of descriptors.
  uint64_t unattached() const { return unattached_.load(std::memory_order_relaxed); }

 private:
  using Events = std::vector<ThreadPerfEvent*>;

  absl::Status Install();
  absl::StatusOr<ThreadPerfEvent*> Open(pid_t tid, const MetricPerfEvent& event);
  // Removes the events from the handlers' table.
  void Unpublish(const Events& events);
  // Closes their descriptors, after Unpublish.
  void Close(Events& events);
  // Returns memory for an event that no handler can be reading.
  ThreadPerfEvent* Unused();
  void StartFor(pid_t tid);

  int signal_ = 0;  // 0: not chosen yet
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> unattached_{0};
  std::mutex mutex_;  // guards what follows
  absl::flat_hash_map<pid_t, Events> by_thread_;
  std::vector<ThreadPerfEvent*> closed_;  // handlers may still read them
  std::vector<ThreadPerfEvent*> unused_;
};

}  // namespace jtrace::metrics
