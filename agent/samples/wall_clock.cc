#include "agent/samples/wall_clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/clock.h"
#include "agent/samples/handler/thread_activity.h"

namespace jtrace::samples {
namespace {

// The most CPU time that a signal, its handler and the return to waiting take, even on slow virtual
// machines.
constexpr uint64_t kSmallMoveNanos = 200'000;
constexpr uint32_t kMaxPause = 16;
// The first signal that confirms a place comes after this many ticks without CPU time.
constexpr uint32_t kFirstConfirmation = 16;
constexpr uint32_t kConfirmGrowth = 64;
// With one check in this time, the checks of idle threads take a hundredth of a processor.
constexpr uint64_t kNanosPerCheck = 32'000;

}  // namespace

WallClock::WallClock(absl::Duration interval, int signal)
    : interval_ns_(static_cast<uint64_t>(absl::ToInt64Nanoseconds(interval))),
      small_move_ns_(std::min(interval_ns_ / 4, kSmallMoveNanos)),
      signal_(signal),
      process_(getpid()) {}

void WallClock::AddTicks(ThreadSlot& slot, uint32_t index, uint32_t ticks, uint64_t now_ns) {
  if (states_.size() <= index) states_.resize(index + 1);
  WallThread& state = states_[index];
  if (state.tid != slot.os_tid) state = WallThread{.tid = slot.os_tid};
  state.ticks += ticks;
  if (state.ticks < state.pause) return;
  if (AssignTicks(state, slot, now_ns)) Signal(slot);
}

void WallClock::Finish(ThreadSlot& slot, uint32_t index, uint64_t now_ns) {
  if (states_.size() <= index || states_[index].tid != slot.os_tid) return;
  WallThread& state = states_[index];
  if (state.ticks != 0) AssignTicks(state, slot, now_ns);
  state = {};
}

bool WallClock::AssignTicks(WallThread& state, ThreadSlot& slot, uint64_t now_ns) const {
  const uint32_t passed = std::exchange(state.ticks, 0);
  if (slot.pending_ticks.load(std::memory_order_acquire) != 0) {
    // The last signal was not handled yet; if it was lost, the next one collects the ticks.
    slot.pending_ticks.fetch_add(passed, std::memory_order_acq_rel);
    return true;
  }
  const uint64_t cpu_ns = ThreadCpuNanos(state.tid);
  if (cpu_ns < state.cpu_ns) return false;  // it has ended
  const uint32_t busy = BusyTicks(state, slot, cpu_ns, passed);
  state.cpu_ns = cpu_ns;
  if (passed > busy) {
    slot.idle_time_ns.store(now_ns, std::memory_order_relaxed);
    slot.idle.fetch_add(passed - busy, std::memory_order_acq_rel);
  }
  state.idle = busy == 0 ? state.idle + passed : 0;
  state.pause = std::min(state.idle / 8, LongestPause());
  if (busy == 0) return false;
  state.sampled = true;
  slot.pending_ticks.fetch_add(busy, std::memory_order_acq_rel);
  return true;
}

// With very many threads checks are rarer, so that they do not dominate the program's work.
uint32_t WallClock::LongestPause() const {
  const auto pause = static_cast<uint32_t>(states_.size() * kNanosPerCheck / interval_ns_);
  return std::max(pause, kMaxPause);
}

uint32_t WallClock::BusyTicks(WallThread& state, const ThreadSlot& slot, uint64_t cpu_ns,
                              uint32_t ticks) const {
  if (!state.sampled) return ticks;
  const uint64_t moved = cpu_ns - state.cpu_ns;
  if (moved == 0) {
    state.short_runs = 0;
    state.confirming = false;
    if (state.confirm_at == 0 || state.idle + ticks < state.confirm_at) return 0;
    state.confirm_at *= kConfirmGrowth;
    state.confirming = true;
    return ticks;
  }
  const bool waited =
      slot.activity.load(std::memory_order_relaxed) != static_cast<uint8_t>(Activity::kRunning);
  if (waited && moved <= small_move_ns_) {
    if (MovedBySignal(state)) return 0;
  } else {
    state.short_runs = 0;
    state.confirm_at = 0;
    state.confirming = false;
  }
  const uint64_t ran = (moved + interval_ns_ - 1) / interval_ns_;
  return static_cast<uint32_t>(std::min<uint64_t>(ran, ticks));
}

bool WallClock::MovedBySignal(WallThread& state) {
  if (std::exchange(state.confirming, false)) return true;
  if (++state.short_runs < 2) return false;
  state.short_runs = 0;
  state.confirm_at = kFirstConfirmation;
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
