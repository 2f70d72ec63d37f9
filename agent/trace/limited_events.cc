#include "agent/trace/limited_events.h"

#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kRecordBits = 20;

struct CodeOf {
  uint32_t major;
  uint32_t minor;
};
constexpr CodeOf kCodes[] = {{format::kMonitor, format::kMonitorContended},
                             {format::kMonitor, format::kMonitorWait},
                             {format::kAllocation, format::kAllocationSample},
                             {format::kClass, format::kClassPrepare},
                             {format::kClass, format::kClassRedefine},
                             {format::kIo, format::kIoRead},
                             {format::kIo, format::kIoWrite},
                             {format::kIo, format::kIoConnect},
                             {format::kIo, format::kIoAccept},
                             {format::kWaited, format::kWaitedMonitor},
                             {format::kWaited, format::kWaitedObject},
                             {format::kWaited, format::kWaitedPark},
                             {format::kSegment, format::kSegmentPair}};
static_assert(std::size(kCodes) == kLimitedEventCount);

// One more record in this second, if there is room for it.
bool TakeRoom(std::atomic<uint64_t>& window, uint64_t limit, uint64_t now_ns) {
  const uint64_t second = (now_ns / kSecond) << kRecordBits;
  uint64_t seen = window.load(std::memory_order_relaxed);
  for (;;) {
    const bool same = (seen >> kRecordBits) << kRecordBits == second;
    const uint64_t used = same ? seen - second : 0;
    if (used >= limit) return false;
    if (window.compare_exchange_weak(seen, second + used + 1, std::memory_order_relaxed)) {
      return true;
    }
  }
}

}  // namespace

bool LimitedEvents::Count(LimitedEvent event, uint64_t now_ns) {
  Total& total = totals_[static_cast<size_t>(event)];
  total.count.fetch_add(1, std::memory_order_relaxed);
  const bool is_frequent =
      event == LimitedEvent::kUnpark || kCodes[static_cast<size_t>(event)].major == format::kIo;
  const uint64_t limit = is_frequent ? kIoRecordsASecond : kRecordsASecond;
  if (!TakeRoom(total.window, limit, now_ns)) return false;
  total.recorded.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void LimitedEvents::Ended(LimitedEvent event, uint64_t duration_ns) {
  totals_[static_cast<size_t>(event)].time_ns.fetch_add(duration_ns, std::memory_order_relaxed);
}

void LimitedEvents::Reset() {
  for (Total& total : totals_) {
    total.count = 0;
    total.recorded = 0;
    total.time_ns = 0;
    total.window = 0;
  }
}

void LimitedEvents::Seal(uint64_t, proto::Chunk& chunk) {
  uint64_t without = 0;
  for (size_t i = 0; i < kLimitedEventCount; ++i) {
    const uint64_t recorded = totals_[i].recorded.load(std::memory_order_relaxed);
    const uint64_t count = totals_[i].count.load(std::memory_order_relaxed);
    if (count == 0) continue;
    proto::CodeTotal* total = chunk.add_code_total();
    total->set_major(kCodes[i].major);
    total->set_minor(kCodes[i].minor);
    total->set_count(count);
    total->set_recorded(recorded);
    total->set_total_ns(totals_[i].time_ns.load(std::memory_order_relaxed));
    without += count > recorded ? count - recorded : 0;
  }
  losses_.Set("events.limited", Severity::kInfo, without,
              "events without a separate record, beyond 1,000 a second of a kind, or 20,000 of I/O "
              "and parks",
              "the summary has their exact number and time");
}

}  // namespace jtrace::trace
