#include "agent/probes/tick_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "agent/base/clock.h"
#include "agent/hot/layout.h"
#include "agent/hot/own_work.h"

namespace jtrace {

TickThread::TickThread(uint64_t& tick, std::chrono::nanoseconds period) : tick_(tick) {
  Tick();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  // A thread inherits the mask it is created under.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, period] { Run(period); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TickThread::~TickThread() {
  stopping_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void TickThread::Run(std::chrono::nanoseconds period) {
  hot::tls_is_agent_thread = true;
  pthread_setname_np(pthread_self(), "jtrace clock");
  prctl(PR_SET_TIMERSLACK, 1000);
  const timespec rest = {0, static_cast<long>(period.count())};
  while (!stopping_.load(std::memory_order_relaxed)) {
    nanosleep(&rest, nullptr);
    Tick();
  }
}

void TickThread::Tick() {
  const uint64_t now = MonotonicNanos();
  hot::WriteRelaxed(tick_, now - now % 1000);
}

}  // namespace jtrace
