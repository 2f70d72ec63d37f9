// Takes one sample in the signal handler; the configuration and the counters that handlers use.
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
#include "agent/signal_safe/cost_histogram.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/signal_safe/position.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::samples {

// Counted by handlers, read by anyone. Relaxed: only totals matter.
struct SampleCounters {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> ring_full{0};   // no room in the thread's ring
  std::atomic<uint64_t> lost_ticks{0};  // ticks of dropped samples
  std::atomic<uint64_t> nested{0};      // signals inside our own handler
  std::atomic<uint64_t> no_room{0};     // on an alternate stack that is too small
  std::atomic<uint64_t> stale{0};       // our signal, but its thread, recording or tick was gone
  std::atomic<uint64_t> foreign{0};     // someone else's signal, passed on
  // Remembered chains that were compared with a full walk.
  std::atomic<uint64_t> last_walk_checked{0};
  std::atomic<uint64_t> last_walk_wrong{0};  // a remembered chain differed from the full walk
  std::atomic<uint64_t> blocker_unread{0};   // waits whose blocker FindBlocker could not read
  std::atomic<uint64_t> cost_ns{0};          // total time in the handler
  std::atomic<uint64_t> missing[static_cast<int>(MissingReason::kCount)] = {};  // by MissingReason
  std::atomic<uint64_t> ends[static_cast<int>(ChainEnd::kCount)] = {};          // by ChainEnd
  std::atomic<uint64_t> cost[signal_safe::kCostBuckets] = {};  // handler times (cost_histogram.h)
};

// Everything that the handler uses besides its thread's slot; immutable once published.
struct SampleHandlerConfig {
  // False: no recording runs, and signals of our timers are late ones, which are dropped.
  bool active;
  // The region of the slots, to recognise the cookie of a POSIX timer.
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
  // timer=wall: signals come from our ticker in this process.
  bool wall;
  int32_t process;
  // The timer ticks on CPU time: a thread that is sampled was running.
  bool ticks_on_cpu_time;
  // The signal of the samples.
  int signal;
  // Bytes that a walk needs of the handler's stack (StackBytesToWalk).
  size_t room_to_walk;
};

// Published before the handler is installed (signals.h), and never null from then on. The handler
// stays installed, because a timer's last signal may arrive after a recording stops, and the
// signal's default action would end the process.
extern constinit std::atomic<const SampleHandlerConfig*> sample_handler_config;
// Wakes RingDrainer when a ring is a quarter full. At half, the handler wakes the writer, too.
extern constinit signal_safe::Doorbell samples_doorbell;
extern constinit SampleCounters sample_counters;
inline void Count(std::atomic<uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

// Takes a sample of the calling thread, which was interrupted at `context`, and restarts its timer.
// Drops and counts it if `slot` is null or not this thread's, if it interrupts another sample, or
// if its weight is 0. weight: ticks; timer=wall: those in the slot count instead. room: free bytes
// of stack (AlternateStack). With too few, the sample has only the interrupted pc, or is dropped
// and counted.
void TakeTimerSample(const SampleHandlerConfig& config, ThreadSlot* slot, uint32_t weight,
                     const ucontext_t* context, size_t room);

// Restarts the slot's perf event, which does not count while its signal is handled. So the
// handler's own time is never sampled, and no interval, however short, can starve the program.
void StartTimer(const ThreadSlot& slot);

// Takes an instrumented unwind (0x41) of the calling thread, from `context` on: at a method's entry
// and in the handler of SIGTRAP, not in that of samples. The caller blocks
// SampleHandlerConfig::signal meanwhile, because the ring has one producer. False: no recording
// runs, the thread is not attached, or its ring is full; the caller counts it.
//
// room: free bytes of stack. getcontext(3) leaves the alternate stack in `context` undefined.
bool TakeUnwind(const SampleHandlerConfig& config, const ucontext_t* context, size_t room);

}  // namespace jtrace::samples
