#include "agent/trace/event_rate_limiter.h"

#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kRecordBits = 20;

// Code lists the calls of I/O from kRead to kAccept.
bool IsFrequent(Code code) {
  return code == Code::kUnpark || (code >= Code::kRead && code <= Code::kAccept);
}

// Counts one more record in this second; false: the limit is reached.
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

bool EventRateLimiter::Count(Code code, uint64_t now_ns) {
  Total& total = totals_[static_cast<size_t>(code)];
  total.count.fetch_add(1, std::memory_order_relaxed);
  const uint64_t limit = IsFrequent(code) ? kIoRecordsASecond : kRecordsASecond;
  if (!TakeRoom(total.window, limit, now_ns)) return false;
  total.recorded.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void EventRateLimiter::Ended(Code code, uint64_t duration_ns) {
  totals_[static_cast<size_t>(code)].time_ns.fetch_add(duration_ns, std::memory_order_relaxed);
}

void EventRateLimiter::Reset() {
  for (Total& total : totals_) {
    total.count = 0;
    total.recorded = 0;
    total.time_ns = 0;
    total.window = 0;
    total.sealed = {};
    total.before_file = {};
  }
}

EventRateLimiter::Numbers EventRateLimiter::Total::Now() const {
  return {.count = count.load(std::memory_order_relaxed),
          .recorded = recorded.load(std::memory_order_relaxed),
          .time_ns = time_ns.load(std::memory_order_relaxed)};
}

void EventRateLimiter::BeginFile() {
  for (Total& total : totals_) total.before_file = total.sealed;
}

void EventRateLimiter::AddChanges(uint64_t, proto::Chunk& chunk) {
  uint64_t without = 0;
  for (size_t i = 0; i < kCodeCount; ++i) {
    Total& now = totals_[i];
    now.sealed = now.Now();
    const uint64_t recorded = now.sealed.recorded - now.before_file.recorded;
    const uint64_t count = now.sealed.count - now.before_file.count;
    if (count == 0) continue;
    proto::CodeTotal* total = chunk.add_code_total();
    const format::EventCode& row = format::RowOf(static_cast<Code>(i));
    total->set_major(row.major);
    total->set_minor(row.minor);
    total->set_count(count);
    total->set_recorded(recorded);
    total->set_total_ns(now.sealed.time_ns - now.before_file.time_ns);
    without += count > recorded ? count - recorded : 0;
  }
  losses_.Set("events.limited", Severity::kInfo, without,
              "events without a separate record, beyond 1,000 a second of a kind, or 20,000 of I/O "
              "and parks",
              "the summary has their exact number and time");
}

}  // namespace jtrace::trace
