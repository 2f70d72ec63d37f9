#include "agent/metrics/event_counts.h"

#include <errno.h>

#include <array>

#include "agent/metrics/block_reading.h"
#include "agent/samples/handler/own_work.h"
#include "agent/signal_safe/counter_block.h"
#include "agent/signal_safe/event_stop.h"

namespace jtrace::metrics {
namespace {

constinit std::array<std::atomic<EventCount*>, kMostDescriptors> g_events = {};

}  // namespace

std::atomic<EventCount*>& EventOfDescriptor(int fd) { return g_events[static_cast<size_t>(fd)]; }

void Charge(EventCount& event, int64_t events) {
  signal_safe::CounterBlock* const block = tls_block;
  if (block == nullptr) return;
  signal_safe::Count(*block, event.metric, events);
  event.charged += events;
}

void HandleEventSignal(int, siginfo_t* info, void*) {
  const samples::OwnWork own;
  const int saved_errno = errno;
  const int fd = info->si_fd;
  if (fd >= 0 && fd < kMostDescriptors) {
    EventCount* const event = EventOfDescriptor(fd).load(std::memory_order_acquire);
    if (event != nullptr) {
      Charge(*event, event->period);
      signal_safe::StartEvent(fd, signal_safe::EventStop::kByKernel);
    }
  }
  errno = saved_errno;
}

}  // namespace jtrace::metrics
