#include "agent/calls/clocks/coarse_clock.h"

#include <sys/prctl.h>
#include <time.h>

#include "agent/base/clock.h"
#include "agent/signal_safe/atomic_access.h"

namespace jtrace::calls {

CoarseClockThread::CoarseClockThread(uint64_t& tick, std::chrono::nanoseconds period)
    : tick_(tick) {
  Tick();
  thread_.Start("jtrace clock", [this, period] { Run(period); });
}

CoarseClockThread::~CoarseClockThread() {
  stopping_.store(true, std::memory_order_relaxed);
  thread_.Join();
}

void CoarseClockThread::Run(std::chrono::nanoseconds period) {
  prctl(PR_SET_TIMERSLACK, 1000);
  const timespec rest = {0, static_cast<long>(period.count())};
  while (!stopping_.load(std::memory_order_relaxed)) {
    nanosleep(&rest, nullptr);
    Tick();
  }
}

void CoarseClockThread::Tick() {
  const uint64_t now = MonotonicNanos();
  signal_safe::WriteRelaxed(tick_, now - now % 1000);
}

}  // namespace jtrace::calls
