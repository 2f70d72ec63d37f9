#include "agent/calls/clocks/clock_scale.h"

#include <time.h>

#include <fstream>
#include <string>

#include "agent/base/clock.h"

namespace jtrace::calls {

bool TicksAreSteady() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return std::getline(file, source) && source == kSteadyClockSource;
}

ClockScale::ClockScale(bool counter)
    : counter_(counter), first_(counter ? Read() : Reading{0, 0}) {}

// Returns the tightest of a few pairs: the time between the two readings is their error.
ClockScale::Reading ClockScale::Read() {
  constexpr int kTries = 5;
  Reading best = {0, 0};
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = jtrace_ticks();
    const uint64_t nanos = MonotonicNanos();
    const uint64_t gap = jtrace_ticks() - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, nanos};
    }
  }
  return best;
}

void ClockScale::Update() {
  if (!counter_) return;
  constexpr uint64_t kShortestNanos = 10'000'000;
  const uint64_t age = MonotonicNanos() - first_.nanos;
  if (age < kShortestNanos) {
    const timespec rest = {0, static_cast<long>(kShortestNanos - age)};
    nanosleep(&rest, nullptr);
  }
  const Reading now = Read();
  nanos_per_tick_ =
      static_cast<double>(now.nanos - first_.nanos) / static_cast<double>(now.ticks - first_.ticks);
}

uint64_t ClockScale::Nanos(uint64_t ticks) const {
  return counter_ ? static_cast<uint64_t>(static_cast<double>(ticks) * nanos_per_tick_) : ticks;
}

uint64_t ClockScale::NanosUp(uint64_t ticks) const {
  return counter_ && ticks != 0 ? Nanos(ticks) + 1 : ticks;
}

uint64_t ClockScale::Monotonic(uint64_t ticks) const {
  if (!counter_) return ticks;
  // Signed: a thread's clock may have been read before the first reading.
  const auto since = static_cast<double>(static_cast<int64_t>(ticks - first_.ticks));
  return first_.nanos + static_cast<uint64_t>(static_cast<int64_t>(since * nanos_per_tick_));
}

uint64_t ClockScale::Now() const { return counter_ ? jtrace_ticks() : MonotonicNanos(); }

}  // namespace jtrace::calls
