#include "agent/hot/sample_handler.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "agent/hot/clock.h"
#include "agent/hot/safe_read.h"
#include "agent/hot/sample_record.h"
#include "agent/hot/signal_scope.h"
#include "agent/hot/walk/walker.h"

namespace jtrace::hot {

constinit std::atomic<const SamplerState*> sampler_state{nullptr};
constinit InFlight handlers_in_flight;
constinit SampleCounters sample_counters;

namespace {

void Count(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

// Whose timer sent the signal.
struct Source {
  bool ours;
  ThreadSlot* slot;  // null: ours, but the timer is gone
  uint32_t weight;
};

Source Identify(const SamplerState& state, const siginfo_t& info) {
  if (info.si_code == SI_TIMER) {
    auto* const slot = static_cast<ThreadSlot*>(info.si_value.sival_ptr);
    const auto offset =
        reinterpret_cast<uintptr_t>(slot) - reinterpret_cast<uintptr_t>(state.slots);
    const bool ours =
        offset < state.slot_count * sizeof(ThreadSlot) && offset % sizeof(ThreadSlot) == 0;
    return {ours, ours ? slot : nullptr, 1 + static_cast<uint32_t>(std::max(info.si_overrun, 0))};
  }
  if (info.si_code == POLL_IN || info.si_code == POLL_HUP) {
    // F_SETSIG reports the descriptor. The program's own may be set to the same signal; a late one
    // of ours, whose descriptor is closed, is not told from these, and dropped by Forward if nobody
    // else handles the signal.
    const auto fd = static_cast<uint32_t>(info.si_fd);
    ThreadSlot* const slot =
        fd < state.fd_count ? state.slot_by_fd[fd].load(std::memory_order_acquire) : nullptr;
    return {slot != nullptr, slot, 1};
  }
  return {false, nullptr, 0};
}

// Hands a signal of somebody else to the handler that was there before ours.
void Forward(const struct sigaction& previous, int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else if (previous.sa_handler == SIG_DFL && info->si_code <= 0 && info->si_code != SI_TIMER &&
             signal != SIGURG && signal != SIGWINCH) {  // by default these two do nothing
    // Sent on purpose (kill, tgkill): the program is to end as it would without us. The signal is
    // blocked here, so that it strikes when the handler returns.
    sigaction(signal, &previous, nullptr);
    raise(signal);
  }
}

struct Identity {
  uint64_t java_tid;
  bool known;
};

// The Java thread that runs here: a virtual one if one is mounted.
Identity CurrentJavaThread(const SamplerState& state, const ThreadSlot& slot) {
  const uint64_t own = slot.java_tid.load(std::memory_order_relaxed);
  const uintptr_t thread = slot.java_thread.load(std::memory_order_relaxed);
  if (state.vm == nullptr || thread == 0) return {own, own != 0};
  const auto& fields = state.vm->thread;
  if (fields.continuation_entry == kAbsent) return {own, true};
  const uintptr_t mounted = SafeReadOr0(thread + static_cast<uintptr_t>(fields.continuation_entry));
  if (mounted == 0) return {own, true};
  if (fields.monitor_owner_id == kAbsent) return {own, false};
  const uintptr_t id = SafeReadOr0(thread + static_cast<uintptr_t>(fields.monitor_owner_id));
  return {id, id != 0};
}

ChainEnd EndOf(const Chain& chain, const ThreadSlot& slot) {
  const ChainEnd end = chain.end();
  return end != ChainEnd::kFailed && chain.Truncates(slot.max_frames) ? ChainEnd::kRootWithHole
                                                                      : end;
}

void FillHeader(const SamplerState& state, const ThreadSlot& slot, uint64_t time_ns,
                uint32_t weight, const Chain& chain, SampleHeader* header) {
  *header = SampleHeader{};
  header->time_ns = time_ns;
  header->thread_number = slot.thread_number.load(std::memory_order_relaxed);
  header->os_tid = slot.os_tid;
  header->weight = weight;
  header->frame_count = chain.SizeWithin(slot.max_frames);
  header->end = EndOf(chain, slot);
  const Identity identity = CurrentJavaThread(state, slot);
  header->java_tid = identity.java_tid;
  if (identity.known && state.read_position != nullptr) {
    const Position position = state.read_position(identity.java_tid);
    header->node = position.node;
    header->position_known = position.known;
  }
  if (!header->position_known) Count(sample_counters.position_unknown);
}

// Walks without the remembered frames, before and after the walk with them (tests and soaks only).
class FullWalkCheck {
 public:
  FullWalkCheck(const VmLayout* vm, const WalkedThread& thread, const ThreadSlot& slot,
                const ucontext_t* context)
      : vm_(vm), thread_(thread), slot_(slot), context_(context) {
    thread_.memory = nullptr;
    if (slot_.check_storage != nullptr) before_ = Walk();
  }

  // A chain that differs is wrong only if nothing has changed meanwhile: other threads load and
  // unload code while this one is in its handler.
  void Compare(const Chain& chain) const {
    if (slot_.check_storage == nullptr || before_ == 0) return;
    const uint64_t fingerprint = chain.Fingerprint();
    if (fingerprint == 0) return;
    Count(sample_counters.memory_checked);
    if (fingerprint == before_) return;
    if (Walk() == before_) Count(sample_counters.memory_wrong);
  }

 private:
  uint64_t Walk() const {
    Chain full(slot_.check_storage, slot_.chain_capacity);
    WalkStack(vm_, thread_, context_, full);
    return full.Fingerprint();
  }

  const VmLayout* const vm_;
  WalkedThread thread_;
  const ThreadSlot& slot_;
  const ucontext_t* const context_;
  uint64_t before_ = 0;
};

void TakeSample(const SamplerState& state, ThreadSlot& slot, uint32_t weight,
                const ucontext_t* context) {
  const uint64_t time_ns = MonotonicNanos();
  Chain chain(slot.chain_storage, slot.chain_capacity);
  const WalkedThread thread{slot.java_thread.load(std::memory_order_relaxed),
                            {slot.stack_low.load(std::memory_order_relaxed),
                             slot.stack_high.load(std::memory_order_relaxed)},
                            slot.walk_memory,
                            &slot.remembered_frames};
  const FullWalkCheck check(state.vm, thread, slot, context);
  WalkStack(state.vm, thread, context, chain);
  check.Compare(chain);
  const uint32_t frames = chain.SizeWithin(slot.max_frames);
  std::byte* const record =
      slot.ring.Reserve(static_cast<uint32_t>(sizeof(SampleHeader) + frames * sizeof(Frame)));
  if (record == nullptr) {
    Count(sample_counters.ring_full);
    return;
  }
  FillHeader(state, slot, time_ns, weight, chain, reinterpret_cast<SampleHeader*>(record));
  chain.CopyTo(reinterpret_cast<Frame*>(record + sizeof(SampleHeader)), slot.max_frames);
  if (state.measure_cost) {
    reinterpret_cast<SampleHeader*>(record)->handler_ns = static_cast<uint32_t>(
        std::min<uint64_t>(MonotonicNanos() - time_ns, std::numeric_limits<uint32_t>::max()));
  }
  slot.ring.Commit();
  Count(sample_counters.taken);
  Count(sample_counters.ends[static_cast<int>(EndOf(chain, slot))]);
  if (chain.failure() != WalkNote::kNone) {
    Count(sample_counters.notes[static_cast<int>(chain.failure())]);
  }
  if (chain.Truncates(slot.max_frames))
    Count(sample_counters.notes[static_cast<int>(WalkNote::kTruncated)]);
}

void CountCost(uint64_t begin_ns) {
  const uint64_t cost = MonotonicNanos() - begin_ns;
  constexpr uint64_t kBucketNanos = 250;
  const uint64_t bucket = std::min<uint64_t>(cost / kBucketNanos, SampleCounters::kCostBuckets - 1);
  sample_counters.cost_ns.fetch_add(cost, std::memory_order_relaxed);
  Count(sample_counters.cost[bucket]);
}

// A perf event stops itself at each signal and goes on from here, so that the handler's own time is
// never sampled and no interval, however short, can starve the program.
void Rearm(const ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (fd >= 0) ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
}

// Whether the slot belongs to the calling thread. A thread that others attached learns it here.
bool Adopt(ThreadSlot* slot) {
  if (tls_thread_slot == slot && tls_os_tid == slot->os_tid) return true;
  if (slot->os_tid != gettid()) return false;
  tls_thread_slot = slot;
  tls_os_tid = slot->os_tid;
  return true;
}

void HandleOwn(const SamplerState& state, const Source& source, const ucontext_t* context) {
  ThreadSlot* const slot = source.slot;
  if (!state.active || slot == nullptr ||
      slot->state.load(std::memory_order_acquire) != SlotState::kAttached || !Adopt(slot)) {
    Count(sample_counters.stale);
    return;
  }
  if (slot->in_handler) {
    Count(sample_counters.nested);
    return;
  }
  slot->in_handler = true;
  const uint64_t begin_ns = state.measure_cost ? MonotonicNanos() : 0;
  TakeSample(state, *slot, source.weight, context);
  if (state.measure_cost) CountCost(begin_ns);
  slot->in_handler = false;
  Rearm(*slot);
}

}  // namespace

void HandleSampleSignal(int signal, siginfo_t* info, void* context) {
  const SignalScope scope(handlers_in_flight);
  const SamplerState* const state = sampler_state.load(std::memory_order_seq_cst);
  const Source source = Identify(*state, *info);
  if (source.ours) {
    HandleOwn(*state, source, static_cast<const ucontext_t*>(context));
    return;
  }
  Count(sample_counters.foreign);
  // Signals of one number do not queue: this one may have swallowed ours, which would have
  // restarted the timer.
  if (state->active && tls_thread_slot != nullptr) Rearm(*tls_thread_slot);
  Forward(state->previous, signal, info, context);
}

}  // namespace jtrace::hot
