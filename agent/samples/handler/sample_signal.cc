#include "agent/samples/handler/sample_signal.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/sample_prefetch.h"
#include "agent/signal_safe/previous_actions.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {

namespace {

// Which of our timers sent the signal, if any did.
struct TimerSignal {
  bool ours;
  ThreadSlot* slot;  // null: the timer was deleted
  uint32_t weight;
};

bool IsSlot(const SampleHandlerConfig& config, const ThreadSlot* slot) {
  const auto offset = reinterpret_cast<uintptr_t>(slot) - reinterpret_cast<uintptr_t>(config.slots);
  return offset < config.slot_count * sizeof(ThreadSlot) && offset % sizeof(ThreadSlot) == 0;
}

// Whether the signal names no sender: the kernel had no room for the data of a queued signal, or
// the sender is outside of this container.
bool IsAnonymous(const siginfo_t& info) { return info.si_code == SI_USER && info.si_pid == 0; }

// A signal of the ticker (timer=wall), if it is ours. Its weight is in the slot.
TimerSignal IdentifyTick(const SampleHandlerConfig& config, const siginfo_t& info) {
  if (IsAnonymous(info)) {
    ThreadSlot* const own = CurrentThreadSlot();
    return {
        config.wall && own != nullptr && own->pending_ticks.load(std::memory_order_relaxed) != 0,
        own, 0};
  }
  auto* const slot = static_cast<ThreadSlot*>(info.si_value.sival_ptr);
  const bool ours =
      info.si_code == SI_QUEUE && info.si_pid == config.process && IsSlot(config, slot);
  return {ours, ours ? slot : nullptr, 0};
}

TimerSignal Identify(const SampleHandlerConfig& config, const siginfo_t& info) {
  if (info.si_code == SI_TIMER) {
    auto* const slot = static_cast<ThreadSlot*>(info.si_value.sival_ptr);
    const bool ours = IsSlot(config, slot);
    return {ours, ours ? slot : nullptr, 1 + static_cast<uint32_t>(std::max(info.si_overrun, 0))};
  }
  if (info.si_code == SI_QUEUE || info.si_code == SI_USER) return IdentifyTick(config, info);
  if (info.si_code == POLL_IN || info.si_code == POLL_HUP) {
    // F_SETSIG reports the descriptor. The program may direct its own descriptors to the same
    // signal. A late signal of ours, whose descriptor is closed, looks like these: ForwardSignal
    // drops it if the program has no handler of the signal.
    const auto fd = static_cast<uint32_t>(info.si_fd);
    ThreadSlot* const slot =
        fd < config.fd_count ? config.slot_by_fd[fd].load(std::memory_order_acquire) : nullptr;
    return {slot != nullptr, slot, 1};
  }
  return {false, nullptr, 0};
}

// Who sent a signal.
enum class Sender { kOurs, kUnknown, kForeign };

Sender HandleIfOurs(int signal, const siginfo_t& info, const ucontext_t* context, size_t room) {
  const signal_safe::SignalScope scope(signal_safe::handlers_in_flight);
  const SampleHandlerConfig& config = *sample_handler_config.load(std::memory_order_seq_cst);
  PrefetchSample(config, tls_thread_slot, *context);
  const TimerSignal origin = Identify(config, info);
  if (origin.ours) {
    // A late signal of an earlier recording, which used another number, is dropped.
    if (signal == config.signal) {
      TakeTimerSample(config, origin.slot, origin.weight, context, room);
    }
    return Sender::kOurs;
  }
  Count(sample_counters.foreign);
  // Signals of one number do not queue. This one may have replaced ours, whose handler would have
  // restarted the timer, so it is restarted here.
  const ThreadSlot* const own = CurrentThreadSlot();
  if (config.active && own != nullptr) StartTimer(*own);
  // It may be the ticker's, if the ticks that it stood for were taken with an earlier signal.
  return config.wall && IsAnonymous(info) ? Sender::kUnknown : Sender::kForeign;
}

}  // namespace

void HandleSampleSignal(int signal, siginfo_t* info, void* context) {
  const auto* const interrupted = static_cast<const ucontext_t*>(context);
  const size_t room = signal_safe::AlternateStack(*interrupted).Room();
  switch (HandleIfOurs(signal, *info, interrupted, room)) {  // the rest runs after its SignalScope
    case Sender::kOurs:
      return;
    case Sender::kForeign:
      return signal_safe::ForwardSignal(signal, info, context);
    case Sender::kUnknown:
      // The default action is never taken, because it ends the program.
      if (const auto* const previous = signal_safe::previous_actions[signal].load();
          previous != nullptr) {
        signal_safe::CallHandler(*previous, signal, info, context);
      }
  }
}

}  // namespace jtrace::samples
