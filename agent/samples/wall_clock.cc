#include "agent/samples/wall_clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/clock.h"
#include "agent/base/signals_blocked.h"
#include "agent/samples/handler/own_work.h"
#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/timers.h"

namespace jtrace::samples {
namespace {

// The most that a signal, its handler and the return to waiting take, even on slow virtual
// machines.
constexpr uint64_t kSmallMoveNanos = 200'000;
constexpr uint32_t kLongestPause = 16;
// In ticks without CPU time.
constexpr uint32_t kFirstConfirmation = 16;
constexpr uint32_t kConfirmGrowth = 64;
// The cost of a look, if all looks at idle threads together may take a hundredth of a processor.
constexpr uint64_t kNanosForALook = 32'000;

}  // namespace

void Ticker::Start(std::chrono::nanoseconds interval, bool jitter,
                   std::function<void(uint32_t)> tick) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  const SignalsBlocked blocked;
  const auto moments =
      SampleMoments::Of(static_cast<uint64_t>(interval.count()), jitter ? MonotonicNanos() | 1 : 0);
  thread_ = std::thread([this, moments, tick = std::move(tick)] { Run(moments, tick); });
  // The search for threads to sample must know this one.
  os_tid_.wait(0);
}

void Ticker::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  os_tid_.store(0);
}

void Ticker::Run(SampleMoments moments, const std::function<void(uint32_t)>& tick) {
  tls_is_agent_thread = true;
  pthread_setname_np(pthread_self(), "jtrace ticker");
  os_tid_.store(gettid());
  os_tid_.notify_all();
  const auto begin = std::chrono::steady_clock::now();
  auto due = begin + std::chrono::nanoseconds(moments.WaitAfter(0));
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_until(lock, due);
    const auto now = std::chrono::steady_clock::now();
    if (stopping_ || now < due) continue;
    const auto passed_ns = static_cast<uint64_t>(std::chrono::nanoseconds(now - begin).count());
    const uint32_t ticks = moments.TakeTicksUntil(passed_ns);
    due = now + std::chrono::nanoseconds(moments.WaitAfter(passed_ns));
    lock.unlock();
    AsOwn([&] { tick(ticks); });
    lock.lock();
  }
}

WallClock::WallClock(std::chrono::nanoseconds interval, int signal)
    : interval_ns_(static_cast<uint64_t>(interval.count())),
      small_move_ns_(std::min(interval_ns_ / 4, kSmallMoveNanos)),
      signal_(signal),
      process_(getpid()) {}

void WallClock::Look(ThreadSlot& slot, uint32_t index, uint32_t ticks, uint64_t now_ns) {
  if (seen_.size() <= index) seen_.resize(index + 1);
  Seen& seen = seen_[index];
  if (seen.tid != slot.os_tid) seen = Seen{.tid = slot.os_tid};
  seen.ticks += ticks;
  if (seen.ticks < seen.pause) return;
  if (Share(seen, slot, now_ns)) Signal(slot);
}

void WallClock::Finish(ThreadSlot& slot, uint32_t index, uint64_t now_ns) {
  if (seen_.size() <= index || seen_[index].tid != slot.os_tid) return;
  Seen& seen = seen_[index];
  if (seen.ticks != 0) Share(seen, slot, now_ns);
  seen = {};
}

bool WallClock::Share(Seen& seen, ThreadSlot& slot, uint64_t now_ns) const {
  const uint32_t passed = std::exchange(seen.ticks, 0);
  if (slot.due_ticks.load(std::memory_order_acquire) != 0) {
    // The last signal was not handled yet; if it was lost, the next one collects the ticks.
    slot.due_ticks.fetch_add(passed, std::memory_order_acq_rel);
    return true;
  }
  const uint64_t cpu_ns = ThreadCpuNanos(seen.tid);
  const uint32_t busy = BusyTicks(seen, slot, cpu_ns, passed);
  seen.cpu_ns = cpu_ns;
  if (passed > busy) {
    slot.idle_time_ns.store(now_ns, std::memory_order_relaxed);
    slot.idle.fetch_add(passed - busy, std::memory_order_acq_rel);
  }
  seen.idle = busy == 0 ? seen.idle + passed : 0;
  seen.pause = std::min(seen.idle / 8, LongestPause());
  if (busy == 0) return false;
  seen.sampled = true;
  slot.due_ticks.fetch_add(busy, std::memory_order_acq_rel);
  return true;
}

// With very many threads looks are even rarer, so that they do not dominate the program's work.
uint32_t WallClock::LongestPause() const {
  const auto pause = static_cast<uint32_t>(seen_.size() * kNanosForALook / interval_ns_);
  return std::max(pause, kLongestPause);
}

uint32_t WallClock::BusyTicks(Seen& seen, const ThreadSlot& slot, uint64_t cpu_ns,
                              uint32_t ticks) const {
  if (!seen.sampled) return ticks;
  const uint64_t moved = cpu_ns - seen.cpu_ns;
  if (moved == 0) {
    seen.small_moves = 0;
    seen.confirming = false;
    if (seen.confirm_at == 0 || seen.idle + ticks < seen.confirm_at) return 0;
    seen.confirm_at *= kConfirmGrowth;
    seen.confirming = true;
    return ticks;
  }
  const bool waited =
      slot.activity.load(std::memory_order_relaxed) != static_cast<uint8_t>(Activity::kRunning);
  if (waited && moved <= small_move_ns_) {
    if (MovedBySignal(seen)) return 0;
  } else {
    seen.small_moves = 0;
    seen.confirm_at = 0;
    seen.confirming = false;
  }
  const uint64_t ran = (moved + interval_ns_ - 1) / interval_ns_;
  return static_cast<uint32_t>(std::min<uint64_t>(ran, ticks));
}

bool WallClock::MovedBySignal(Seen& seen) {
  if (std::exchange(seen.confirming, false)) return true;
  if (++seen.small_moves < 2) return false;
  seen.small_moves = 0;
  seen.confirm_at = kFirstConfirmation;
  return true;
}

int WallClock::Send(pid_t tid, int signal, ThreadSlot* slot) const {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = process_;
  info.si_uid = getuid();
  info.si_value.sival_ptr = slot;
  return syscall(SYS_rt_tgsigqueueinfo, process_, tid, signal, &info) == 0 ? 0 : errno;
}

int WallClock::SignalError() const { return Send(gettid(), /*signal=*/0, nullptr); }

void WallClock::Signal(ThreadSlot& slot) const { Send(slot.os_tid, signal_, &slot); }

}  // namespace jtrace::samples
