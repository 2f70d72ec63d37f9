#include "agent/samples/handler/sample_handler.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "agent/base/clock.h"
#include "agent/samples/handler/full_walk_check.h"
#include "agent/samples/handler/kernel_frames.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/handler/thread_identity.h"
#include "agent/samples/handler/thread_labels.h"
#include "agent/samples/walk/walker.h"
#include "agent/signal_safe/perf_stop_mode.h"
#include "agent/signal_safe/safe_read.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {

constinit std::atomic<const SampleHandlerConfig*> sample_handler_config{nullptr};
constinit signal_safe::Doorbell samples_doorbell;
constinit SampleCounters sample_counters;

namespace {

// The most kernel frames of a sample. The kernel itself keeps 127 by default.
constexpr uint32_t kMaxKernelFrames = 128;
// How often an unreadable blocker is read again while its thread continues to wait.
constexpr uint32_t kMaxReads = 64;

ChainEnd EndOf(const Chain& chain, const ThreadSlot& slot) {
  const ChainEnd end = chain.end();
  return end != ChainEnd::kFailed && chain.Truncates(slot.max_frames) ? ChainEnd::kRootWithHole
                                                                      : end;
}

// When and why a sample is taken.
struct SampleInfo {
  uint64_t time_ns;
  uint32_t weight;
  Activity activity;
  bool is_unwind;
  uintptr_t blocker_klass;
  Frame wait_frame;
};

void FillHeader(const SampleHandlerConfig& config, const ThreadSlot& slot, const SampleInfo& info,
                const Chain& chain, SampleHeader* header) {
  *header = SampleHeader{};
  header->time_ns = info.time_ns;
  header->activity = info.activity;
  header->is_unwind = info.is_unwind;
  header->blocker_klass = info.blocker_klass;
  header->wait_frame = info.wait_frame;
  header->thread_number = slot.thread_number.load(std::memory_order_relaxed);
  header->os_tid = slot.os_tid;
  header->weight = info.weight;
  header->frame_count = chain.SizeWithin(slot.max_frames);
  header->end = EndOf(chain, slot);
  header->unchecked = chain.unchecked();
  const Identity identity = CurrentJavaThread(config, slot);
  header->java_tid = identity.java_tid;
  header->labels = LabelsOf(identity, slot);
  if (identity.known && config.read_position != nullptr) {
    const signal_safe::Position position = config.read_position(identity.java_tid);
    header->node = position.node;
    header->position_known = position.known;
  }
}

// Pushes the kernel's frames if the mode wants them. True: it wants no others.
bool WalkKernel(const SampleHandlerConfig& config, const ThreadSlot& slot, Chain& chain) {
  void* const ring = slot.kernel_ring.load(std::memory_order_relaxed);
  if (ring == nullptr || slot.check_storage != nullptr) return false;
  const bool one = config.stack == StackMode::kFrame || config.stack == StackMode::kPc;
  const bool none = config.stack == StackMode::kApp || config.stack == StackMode::kAppFrame;
  PushKernelFrames(ring, none ? 0 : one ? 1 : kMaxKernelFrames, chain);
  return one && chain.pushed() != 0;
}

const signal_safe::AddressTable& Application(const SampleHandlerConfig& config) {
  return *config.application->load(std::memory_order_acquire);
}

WalkedThread ThreadOf(ThreadSlot& slot) {
  return {slot.java_thread.load(std::memory_order_relaxed),
          {slot.stack_low.load(std::memory_order_relaxed),
           slot.stack_high.load(std::memory_order_relaxed)},
          slot.last_walk,
          &slot.remembered_frames};
}

// Pushes the interrupted pc, and why there are no more frames.
void WalkWithoutRoom(const SampleHandlerConfig& config, const ucontext_t* context, Chain& chain) {
  WalkPc(config.vm, context, chain);
  if (chain.failure() == MissingReason::kNone) chain.Fail(MissingReason::kNoStackRoom);
}

// `whole`: walks the full stack, whatever the mode of samples is.
__attribute__((noinline)) void Walk(const SampleHandlerConfig& config, ThreadSlot& slot,
                                    const ucontext_t* context, bool whole, Chain& chain) {
  WalkedThread thread = ThreadOf(slot);
  thread.wants_ids = config.stack == StackMode::kApp || config.stack == StackMode::kAppFrame;
  if (!whole && WalkKernel(config, slot, chain)) return;
  switch (whole ? StackMode::kFull : config.stack) {
    case StackMode::kPc:
      return WalkPc(config.vm, context, chain);
    case StackMode::kFrame:
      return WalkTopFrame(config.vm, thread, context, chain);
    case StackMode::kAppFrame:
      return WalkToApplication(config.vm, thread, context, Application(config), chain);
    case StackMode::kFull:
    case StackMode::kApp:
      break;
  }
  const FullWalkCheck check(config.vm, thread, slot, context);
  WalkStack(config.vm, thread, context, chain);
  check.Compare(chain);
}

// Removes frames that are not the application's, and returns how many stay. Keeps their order.
uint32_t KeepApplicationFrames(const signal_safe::AddressTable& application, Frame* frames,
                               uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (IsApplication(frames[i], application)) frames[kept++] = frames[i];
  }
  return kept;
}

// timer=wall: numbers the sample, and takes over the idle ticks since the last one.
void NumberSample(const SampleHandlerConfig& config, ThreadSlot& slot, SampleHeader* header) {
  if (!config.wall) return;
  const bool again = slot.unread_count != 0 && slot.unread_count < kMaxReads;
  slot.activity.store(static_cast<uint8_t>(again ? Activity::kRunning : header->activity),
                      std::memory_order_relaxed);
  header->idle_time_ns = slot.idle_time_ns.load(std::memory_order_relaxed);
  uint64_t word = slot.idle.load(std::memory_order_acquire);
  IdleWord before = IdleWord::Of(word);
  while (!slot.idle.compare_exchange_weak(word, IdleWord{before.sample + 1, 0}.word(),
                                          std::memory_order_acq_rel)) {
    before = IdleWord::Of(word);
  }
  header->number = before.sample + 1;
  header->idle_ticks = before.ticks;
}

void CountCost(uint64_t cost) {
  sample_counters.cost_ns.fetch_add(cost, std::memory_order_relaxed);
  Count(sample_counters.cost[signal_safe::CostBucket(cost)]);
}

void CountLost(uint32_t ticks) {
  sample_counters.lost_ticks.fetch_add(ticks, std::memory_order_relaxed);
}

void CountChain(const Chain& chain, const ThreadSlot& slot) {
  Count(sample_counters.taken);
  Count(sample_counters.ends[static_cast<int>(EndOf(chain, slot))]);
  if (chain.failure() != MissingReason::kNone) {
    Count(sample_counters.missing[static_cast<int>(chain.failure())]);
  }
  if (chain.Truncates(slot.max_frames)) {
    Count(sample_counters.missing[static_cast<int>(MissingReason::kTruncated)]);
  }
}

// Puts head and frames into the slot's ring, without committing them. Null: there is no room.
SampleHeader* WriteRecord(const SampleHandlerConfig& config, ThreadSlot& slot,
                          const SampleInfo& info, const Chain& chain) {
  const uint32_t frame_bytes = chain.SizeWithin(slot.max_frames) * sizeof(Frame);
  std::byte* const record =
      slot.ring.Reserve(static_cast<uint32_t>(sizeof(SampleHeader) + frame_bytes));
  if (record == nullptr) {
    if (info.is_unwind) return nullptr;  // the caller counts it
    Count(sample_counters.ring_full);
    CountLost(info.weight);
    return nullptr;
  }
  auto* const header = reinterpret_cast<SampleHeader*>(record);
  auto* const frames = reinterpret_cast<Frame*>(record + sizeof(SampleHeader));
  FillHeader(config, slot, info, chain, header);
  chain.CopyTo(frames, slot.max_frames);
  // stack=appframe walks the whole stack for unwind= only.
  const bool is_whole_unwind = config.stack == StackMode::kAppFrame && info.is_unwind;
  if (config.stack == StackMode::kApp || is_whole_unwind) {
    header->frame_count = KeepApplicationFrames(Application(config), frames, header->frame_count);
    slot.ring.Shrink(
        static_cast<uint32_t>(sizeof(SampleHeader) + header->frame_count * sizeof(Frame)));
  }
  return header;
}

// Passes the record on. Wakes the threads that empty rings if this ring may be full before the
// writer's next poll.
void Commit(signal_safe::SpscRing& ring) {
  ring.Commit();
  const uint64_t used = ring.used();
  if (used <= ring.capacity() / 4) return;
  samples_doorbell.Ring();
  if (used > ring.capacity() / 2) signal_safe::writer_doorbell.Ring();
}

// Reads the thread's activity and the object that it waits on. Overwrites the slot's chain storage.
__attribute__((noinline)) void ReadActivity(const SampleHandlerConfig& config, ThreadSlot& slot,
                                            const ucontext_t* context, SampleInfo* info) {
  const WalkedThread thread = ThreadOf(slot);
  info->activity = ActivityOf(config.vm, thread.java_thread, context);
  if (config.vm == nullptr || thread.java_thread == 0) return;
  const signal_safe::HeapLayout& heap = config.vm->heap;
  const bool known = FindBlocker(heap, thread.java_thread, info->activity, &info->blocker_klass);
  if (!known) Count(sample_counters.blocker_unread);
  slot.unread_count = known || !heap.readable ? 0 : slot.unread_count + 1;
  // The JVM has one state for several waits; the waiting method determines which (SampleSource).
  if (info->activity != Activity::kWaiting || config.stack == StackMode::kFull) return;
  Chain chain(slot.chain_storage, slot.chain_capacity);
  WalkToJava(config.vm, thread, context, chain);
  if (chain.pushed() != 0) info->wait_frame = chain.pushed_frame(0);
}

__attribute__((noinline)) void TakeSample(const SampleHandlerConfig& config, ThreadSlot& slot,
                                          uint32_t weight, const ucontext_t* context,
                                          bool has_room) {
  SampleInfo info{};
  info.time_ns = MonotonicNanos();
  info.weight = weight;
  if (!config.ticks_on_cpu_time && has_room) ReadActivity(config, slot, context, &info);
  Chain chain(slot.chain_storage, slot.chain_capacity);
  if (has_room) {
    Walk(config, slot, context, /*whole=*/false, chain);
  } else {
    WalkWithoutRoom(config, context, chain);
  }
  SampleHeader* const header = WriteRecord(config, slot, info, chain);
  if (header == nullptr) return;
  NumberSample(config, slot, header);
  const uint64_t cost = MonotonicNanos() - info.time_ns;
  header->handler_ns =
      static_cast<uint32_t>(std::min<uint64_t>(cost, std::numeric_limits<uint32_t>::max()));
  Commit(slot.ring);
  CountCost(cost);
  CountChain(chain, slot);
}

void StopTimer(const ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (fd >= 0) signal_safe::StopPerfEvent(fd, slot.event_stop);
}

// The event's own count, which does not grow in the handler, says how much of the interval is left.
void RestartTimer(ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  uint64_t now = 0;
  if (fd >= 0 && slot.schedule.interval_ns != 0 &&
      syscall(SYS_read, fd, &now, sizeof now) == sizeof now) {
    uint64_t wait = slot.schedule.WaitAfter(now);
    ioctl(fd, PERF_EVENT_IOC_PERIOD, &wait);
  }
  StartTimer(slot);
}

// Whether the slot belongs to the calling thread. If another thread attached it, remembers it here.
bool ClaimSlot(ThreadSlot* slot) {
  if (CurrentThreadSlot() == slot) return true;
  if (slot->os_tid != gettid()) return false;
  tls_thread_slot = slot;
  tls_os_tid = slot->os_tid;
  return true;
}

}  // namespace

void StartTimer(const ThreadSlot& slot) {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (fd >= 0) signal_safe::StartPerfEvent(fd, slot.event_stop);
}

void TakeTimerSample(const SampleHandlerConfig& config, ThreadSlot* slot, uint32_t weight,
                     const ucontext_t* context, size_t room) {
  if (!config.active || slot == nullptr ||
      slot->state.load(std::memory_order_acquire) != SlotState::kAttached || !ClaimSlot(slot)) {
    Count(sample_counters.stale);
    return;
  }
  if (slot->in_handler) {
    Count(sample_counters.nested);
    if (!config.wall) CountLost(weight);  // timer=wall: the next sample has them
    return;
  }
  StopTimer(*slot);
  // The kernel may merge the signals of two ticks, so the weight is counted in the slot. Nothing is
  // left for the signal that was not merged.
  if (config.wall) weight = slot->pending_ticks.exchange(0, std::memory_order_acq_rel);
  if (slot->schedule.ticks != 0) weight = slot->schedule.ticks;
  if (weight == 0) {
    Count(sample_counters.stale);
    return RestartTimer(*slot);
  }
  if (room < signal_safe::kStackBytesToSample) {
    Count(sample_counters.no_room);
    CountLost(weight);
  } else {
    slot->in_handler = true;
    TakeSample(config, *slot, weight, context, room >= config.room_to_walk);
    slot->in_handler = false;
  }
  RestartTimer(*slot);
}

bool TakeUnwind(const SampleHandlerConfig& config, const ucontext_t* context, size_t room) {
  ThreadSlot* const slot = CurrentThreadSlot();
  if (!config.active || slot == nullptr ||
      slot->state.load(std::memory_order_acquire) != SlotState::kAttached) {
    return false;
  }
  SampleInfo info{};
  info.time_ns = MonotonicNanos();
  info.weight = 1;
  info.is_unwind = true;
  Chain chain(slot->chain_storage, slot->chain_capacity);
  if (room >= config.room_to_walk) {
    Walk(config, *slot, context, /*whole=*/true, chain);
  } else {
    WalkWithoutRoom(config, context, chain);
  }
  if (WriteRecord(config, *slot, info, chain) == nullptr) return false;
  Commit(slot->ring);
  if (chain.failure() != MissingReason::kNone) {
    Count(sample_counters.missing[static_cast<int>(chain.failure())]);
  }
  return true;
}

}  // namespace jtrace::samples
