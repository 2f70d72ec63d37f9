#include "agent/metrics/kernel_event_handler.h"

#include <unistd.h>

#include <array>

#include "agent/metrics/counter_numbers.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/metric_counts.h"
#include "agent/signal_safe/perf_stop_mode.h"

namespace jtrace::metrics {
namespace {

constinit std::array<std::atomic<ThreadPerfEvent*>, kMaxDescriptors> g_events = {};

}  // namespace

constinit signal_safe::InFlight perf_event_handlers;

std::atomic<ThreadPerfEvent*>& PerfEventOfFd(int fd) { return g_events[static_cast<size_t>(fd)]; }

void Charge(ThreadPerfEvent& event, int64_t events) {
  signal_safe::MetricCounts* const block = tls_metric_counts;
  if (block == nullptr) return;
  signal_safe::Count(*block, event.metric, events);
  event.charged += events;
}

void HandlePerfEventSignal(int, siginfo_t* info, void*) {
  const signal_safe::AgentWorkScope own;
  const signal_safe::SignalScope scope(perf_event_handlers);
  const int fd = info->si_fd;
  if (fd < 0 || fd >= kMaxDescriptors) return;
  ThreadPerfEvent* const event = PerfEventOfFd(fd).load(std::memory_order_seq_cst);
  // A signal that was sent before its event was closed: the descriptor is another thread's now.
  if (event == nullptr || event->os_tid != gettid()) return;
  Charge(*event, event->period);
  signal_safe::StartPerfEvent(fd, signal_safe::PerfStopMode::kByKernel);
}

}  // namespace jtrace::metrics
