#include "agent/samples/ticker.h"

#include <chrono>
#include <utility>

#include "agent/base/clock.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::samples {

void Ticker::Start(absl::Duration interval, bool jitter, std::function<void(uint32_t)> tick) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  const auto schedule = SampleSchedule::Of(
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(interval)), jitter ? MonotonicNanos() | 1 : 0);
  thread_.Start("jtrace ticker", [this, schedule, tick = std::move(tick)] { Run(schedule, tick); });
}

void Ticker::Stop() {
  if (!thread_.IsRunning()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.Join();
}

void Ticker::Run(SampleSchedule schedule, const std::function<void(uint32_t)>& tick) {
  const auto begin = std::chrono::steady_clock::now();
  auto due = begin + std::chrono::nanoseconds(schedule.WaitAfter(0));
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_until(lock, due);
    const auto now = std::chrono::steady_clock::now();
    if (stopping_ || now < due) continue;
    const auto passed_ns = static_cast<uint64_t>(std::chrono::nanoseconds(now - begin).count());
    const uint32_t ticks = schedule.TicksUntil(passed_ns);
    due = now + std::chrono::nanoseconds(schedule.WaitAfter(passed_ns));
    lock.unlock();
    signal_safe::RunAsAgent([&] { tick(ticks); });
    lock.lock();
  }
}

}  // namespace jtrace::samples
