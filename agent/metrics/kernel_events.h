// Opens the kernel's events of each Java thread, for metrics that are charged to call paths by the
// kernel's signals (kernel_event_handler.h), and closes them.
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

// A metric's event, and how many of them between two signals.
struct KernelEvent {
  Metric metric;
  std::string_view name;  // samples/perf_events
  uint64_t period;
};

// No clocks: the kernel may stop these itself (samples/perf_events.h), and must, because
// real-time signals queue.
//
// A signal at a context switch ends the wait that was to begin: see samples/perf_events.
inline constexpr std::array kKernelEvents = {
    KernelEvent{Metric::kPathFaults, "page-faults", 1},
    KernelEvent{Metric::kPathSwitches, "context-switches", 4},
    KernelEvent{Metric::kPathCycles, "cycles", 1'000'000},
    KernelEvent{Metric::kPathInstructions, "instructions", 1'000'000},
    KernelEvent{Metric::kPathCacheMisses, "cache-misses", 1000},
};

// The metrics that it counts.
inline constexpr uint64_t kOfKernelEvents = [] {
  uint64_t metrics = 0;
  for (const KernelEvent& event : kKernelEvents) metrics |= Bit(event.metric);
  return metrics;
}();

class KernelEvents {
 public:
  KernelEvents() = default;
  // In tests: the agent's own is never destroyed. No thread may have events any more.
  ~KernelEvents();
  KernelEvents(const KernelEvents&) = delete;
  KernelEvents& operator=(const KernelEvents&) = delete;

  // Those of a set of metrics (bits) that the kernel counts for this process; `refused`: why not
  // the others, for people, and what helps. Threads get their events from here on.
  uint64_t Start(uint64_t wanted, std::string& refused);
  void Stop();
  // Whether threads get no events.
  bool is_empty() const { return started_.load(std::memory_order_relaxed) == 0; }

  // A thread of the process, once; ignored if it has events or has ended.
  void Attach(pid_t tid);
  // The calling thread ends: what is not charged yet is charged now.
  void Detach();
  // Events that threads did not get since the start, because descriptors ran out.
  uint64_t unattached() const { return unattached_.load(std::memory_order_relaxed); }

 private:
  using Events = std::vector<EventCount*>;

  absl::Status Install();
  absl::StatusOr<EventCount*> Open(pid_t tid, const KernelEvent& event);
  // The handlers find them no more.
  void Unpublish(const Events& events);
  void Close(Events& events);
  // One that no handler may look at.
  EventCount* Unused();
  void StartFor(pid_t tid);

  int signal_ = 0;  // 0: not chosen yet
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> unattached_{0};
  std::mutex mutex_;  // guards what follows
  absl::flat_hash_map<pid_t, Events> by_thread_;
  std::vector<EventCount*> closed_;  // handlers may still look at them
  std::vector<EventCount*> unused_;
};

}  // namespace jtrace::metrics
