// Determines whose signal it was: ours becomes a sample, any other goes to the previous handler.
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "agent/hot/forward_signal.h"
#include "agent/hot/sample_handler.h"
#include "agent/hot/sample_prefetch.h"
#include "agent/hot/signal_scope.h"
#include "agent/hot/timer_sample.h"

namespace jtrace::hot {

constinit std::atomic<const struct sigaction*> previous_actions[kSignals];

namespace {

// The sender: which timer sent the signal.
struct Source {
  bool ours;
  ThreadSlot* slot;  // null: ours, but the timer was deleted
  uint32_t weight;
};

bool IsSlot(const SamplerState& state, const ThreadSlot* slot) {
  const auto offset = reinterpret_cast<uintptr_t>(slot) - reinterpret_cast<uintptr_t>(state.slots);
  return offset < state.slot_count * sizeof(ThreadSlot) && offset % sizeof(ThreadSlot) == 0;
}

// A signal of the wall clock's ticker. Its weight is in the slot.
Source IdentifyTick(const SamplerState& state, const siginfo_t& info) {
  // The kernel had no room for the data of a queued signal: it has no sender.
  if (info.si_code == SI_USER && info.si_pid == 0 && state.wall) {
    return {true, tls_thread_slot, 0};
  }
  auto* const slot = static_cast<ThreadSlot*>(info.si_value.sival_ptr);
  const bool ours = info.si_code == SI_QUEUE && info.si_pid == state.process && IsSlot(state, slot);
  return {ours, ours ? slot : nullptr, 0};
}

Source Identify(const SamplerState& state, const siginfo_t& info) {
  if (info.si_code == SI_TIMER) {
    auto* const slot = static_cast<ThreadSlot*>(info.si_value.sival_ptr);
    const bool ours = IsSlot(state, slot);
    return {ours, ours ? slot : nullptr, 1 + static_cast<uint32_t>(std::max(info.si_overrun, 0))};
  }
  if (info.si_code == SI_QUEUE || info.si_code == SI_USER) return IdentifyTick(state, info);
  if (info.si_code == POLL_IN || info.si_code == POLL_HUP) {
    // F_SETSIG reports the descriptor. The program's own may be set to the same signal; a late one
    // of ours, whose descriptor is closed, cannot be distinguished from these, and Forward drops it
    // if there is no other handler of the signal.
    const auto fd = static_cast<uint32_t>(info.si_fd);
    ThreadSlot* const slot =
        fd < state.fd_count ? state.slot_by_fd[fd].load(std::memory_order_acquire) : nullptr;
    return {slot != nullptr, slot, 1};
  }
  return {false, nullptr, 0};
}

// False: it is not ours.
bool HandleIfOurs(int signal, const siginfo_t& info, const ucontext_t* context) {
  const SignalScope scope(handlers_in_flight);
  const SamplerState& state = *sampler_state.load(std::memory_order_seq_cst);
  PrefetchSample(state, tls_thread_slot, *context);
  const Source source = Identify(state, info);
  if (source.ours) {
    // One of an earlier recording, which had another signal, is late.
    if (signal == state.signal) {
      TakeTimerSample(state, source.slot, source.weight, context);
    };
    return true;
  }
  Count(sample_counters.foreign);
  // Signals of one number do not queue: this one may have swallowed ours, which would have
  // restarted the timer.
  if (state.active && tls_thread_slot != nullptr) Rearm(*tls_thread_slot);
  return false;
}

}  // namespace

void HandleSampleSignal(int signal, siginfo_t* info, void* context) {
  if (HandleIfOurs(signal, *info, static_cast<const ucontext_t*>(context))) return;
  ForwardSignal(signal, info, context);  // outside of our scope
}

}  // namespace jtrace::hot
