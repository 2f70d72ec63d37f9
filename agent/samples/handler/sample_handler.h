// The signal handler that takes one sample.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/samples/handler/sample_record.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/vm_layout.h"
#include "agent/signal_safe/address_table.h"
#include "agent/signal_safe/counter_block.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/signal_safe/position.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {

// Counted by handlers, read by anyone. Relaxed: only totals matter.
struct SampleCounters {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> ring_full{0};   // no room in the thread's ring
  std::atomic<uint64_t> lost_ticks{0};  // that dropped samples represented
  std::atomic<uint64_t> nested{0};      // interrupted our own handler
  std::atomic<uint64_t> no_room{0};     // on an alternate stack that is too small
  std::atomic<uint64_t> stale{0};       // our signal, but the thread or session was gone
  std::atomic<uint64_t> foreign{0};     // someone else's signal, passed on
  std::atomic<uint64_t> position_unknown{0};
  std::atomic<uint64_t> memory_checked{0};  // remembered chains that a full walk was compared with
  std::atomic<uint64_t> memory_wrong{0};    // a remembered chain differed from the full walk
  std::atomic<uint64_t> blocker_unread{0};  // waits whose blocker FindBlocker could not read
  std::atomic<uint64_t> cost_ns{0};         // total time in the handler
  std::atomic<uint64_t> notes[static_cast<int>(WalkNote::kCount)] = {};
  std::atomic<uint64_t> ends[4] = {};                          // by ChainEnd
  std::atomic<uint64_t> cost[signal_safe::kCostBuckets] = {};  // handler times (counter_block.h)
};

// Everything that the handler uses besides its thread's slot; immutable once published.
struct SamplerState {
  // False: no session is running, own signals are late ones.
  bool active;
  // The slots' region, to recognize a POSIX timer's cookie.
  ThreadSlot* slots;
  uint32_t slot_count;
  // Slot by perf descriptor (null: not one of ours); `fd_count` entries.
  std::atomic<ThreadSlot*>* slot_by_fd;
  uint32_t fd_count;
  const VmLayout* vm;                         // null: native frames only
  signal_safe::PositionReader read_position;  // null: every position is unknown
  StackMode stack;
  // The application's methods, for the modes that need them; else null.
  const std::atomic<const signal_safe::AddressTable*>* application;
  // Signals may come from a ticker of ours in this process (timer=wall).
  bool wall;
  int32_t process;
  // The timer ticks on CPU time: a thread that is sampled was running.
  bool ticks_on_cpu_time;
  // The signal of the samples.
  int signal;
  // Bytes that a walk needs of the handler's stack (RoomToWalk).
  size_t room_to_walk;
};

// Published by agent/samples before the handler is installed, and from then on never null: once
// installed, the handler stays, because a timer's last signal may arrive after a session stops, and
// the signal's default action would end the process.
extern constinit std::atomic<const SamplerState*> sampler_state;
// Wakes RingWatch when a ring is a quarter full. At a half the handler rings the writer's doorbell.
extern constinit signal_safe::Doorbell samples_doorbell;
extern constinit SampleCounters sample_counters;
inline void Count(std::atomic<uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

// Takes a sample of the calling thread, which was interrupted at `context`, and restarts its timer.
// Drops and counts it if `slot` is null or not this thread's, if it interrupts another sample, or
// if its weight is 0. weight: ticks; timer=wall: those in the slot count instead. room: bytes of
// stack (AlternateStack): with too few of them it does less, and counts that.
void TakeTimerSample(const SamplerState& state, ThreadSlot* slot, uint32_t weight,
                     const ucontext_t* context, size_t room);

// A perf event stands still while its signal is handled and continues from here, so that the
// handler's own time is never sampled and no interval, however short, can starve the program.
void Rearm(const ThreadSlot& slot);

// Takes an instrumented unwind (0x41) of the calling thread, from `context` on. Not in a handler;
// the caller keeps SamplerState::signal blocked meanwhile, because the ring has one producer.
// False: no session runs, the thread is not attached, or its ring is full: the caller
// counts it.
//
// room: bytes of stack, as for samples; getcontext(3) leaves a context's alternate stack undefined.
bool TakeUnwind(const SamplerState& state, const ucontext_t* context, size_t room);

}  // namespace jtrace::samples
