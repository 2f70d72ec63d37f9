#include "agent/metrics/event_counts.h"

#include <errno.h>

#include <array>

#include "agent/hot/counter_block.h"
#include "agent/hot/event_stop.h"
#include "agent/hot/own_work.h"
#include "agent/metrics/block_reading.h"

namespace jtrace::metrics {
namespace {

constinit std::array<std::atomic<EventCount*>, kMostDescriptors> g_events = {};

}  // namespace

std::atomic<EventCount*>& EventOfDescriptor(int fd) { return g_events[static_cast<size_t>(fd)]; }

void Charge(EventCount& event, int64_t events) {
  hot::CounterBlock* const block = tls_block;
  if (block == nullptr) return;
  hot::Count(*block, event.metric, events);
  event.charged += events;
}

void HandleEventSignal(int, siginfo_t* info, void*) {
  const hot::OwnWork own;
  const int saved_errno = errno;
  const int fd = info->si_fd;
  if (fd >= 0 && fd < kMostDescriptors) {
    EventCount* const event = EventOfDescriptor(fd).load(std::memory_order_acquire);
    if (event != nullptr) {
      Charge(*event, event->period);
      hot::StartEvent(fd, hot::EventStop::kByKernel);
    }
  }
  errno = saved_errno;
}

}  // namespace jtrace::metrics
