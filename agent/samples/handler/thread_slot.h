// What the sample handler knows of a thread, and the memory that it uses there.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/samples/handler/sample_schedule.h"
#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/last_walk.h"
#include "agent/signal_safe/perf_stop_mode.h"
#include "agent/signal_safe/spsc_ring.h"

namespace jtrace::samples {

// The life of a slot.
enum class SlotState : uint32_t {
  kFree,      // in the free list
  kAttached,  // belongs to a live thread
  kDetached,  // its thread has ended, or the recording; the ring still has to be drained
};

// One sampled native thread. Slots are in one fixed region that is never unmapped, so that a late
// signal finds memory (agent/samples/thread_slot_pool.h).
//
// Written by cold code before the thread's timer is armed; afterwards the fields marked "Handler"
// belong to the handler on that thread, and atomics may be updated by cold code at any time.
struct alignas(64) ThreadSlot {
  std::atomic<SlotState> state;
  std::atomic<int32_t> os_tid;
  // The number under which the trace names the thread (proto Thread.id); 0: not known yet.
  std::atomic<uint32_t> thread_number;
  // Thread.threadId(); 0 for threads that run no Java code.
  std::atomic<uint64_t> java_tid;
  // The JVM's JavaThread; 0 for GC threads and the like.
  std::atomic<uintptr_t> java_thread;
  // The thread's stack, known for Java threads only.
  std::atomic<uintptr_t> stack_low;
  std::atomic<uintptr_t> stack_high;

  // The timer: a perf event's descriptor, or -1 and the kernel's POSIX timer id.
  std::atomic<int32_t> perf_fd;
  std::atomic<int32_t> posix_timer;
  // Who stops the event of perf_fd.
  signal_safe::PerfStopMode event_stop;
  // Where the kernel writes its frames for the perf event (kernel_frames.h); null: nowhere.
  std::atomic<void*> kernel_ring;

  // Handler: the moments of perf_fd; not in use if the kernel repeats the interval itself.
  SampleSchedule schedule;

  // timer=wall: ticks that the pending signal represents; 0: none is pending.
  std::atomic<uint32_t> pending_ticks;
  // timer=wall: two halves (IdleWord): the number of the thread's last sample, and the ticks since
  // then without CPU time of the thread, which count for that sample.
  std::atomic<uint64_t> idle;
  // timer=wall: the thread's activity at its last sample (Activity); kRunning also if the object
  // that it waits on is to be read again.
  std::atomic<uint8_t> activity;
  // timer=wall: when the last of the idle ticks was, CLOCK_MONOTONIC ns.
  std::atomic<uint64_t> idle_time_ns;

  // Handler: true while it takes a sample; a nested signal is dropped and counted.
  bool in_handler;
  // Handler: samples in a row whose blocker was not read (FindBlocker).
  uint32_t unread_count;
  // Handler: where a chain is collected before it goes to the ring.
  Frame* chain_storage;
  uint32_t chain_capacity;
  // The most frames of a sample, at most chain_capacity.
  uint32_t max_frames;
  // Handler: the thread's last walk, for the next one.
  LastWalk::Storage* last_walk;
  uint32_t remembered_frames;
  // Handler: storage of a second chain, to check the first (full_walk_check.h); null: no checks.
  Frame* check_storage;
  // The handler produces SampleHeader records; the holder of Sampler::emptying_ consumes them.
  signal_safe::SpscRing ring;
};

// The two halves of ThreadSlot::idle.
struct IdleWord {
  uint32_t sample;  // number of the slot's last sample
  uint32_t ticks;

  static IdleWord Of(uint64_t word) {
    return {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word)};
  }
  uint64_t word() const { return uint64_t{sample} << 32 | ticks; }
};

// The calling thread's slot, or null: it is not attached, or was attached by another thread and not
// sampled yet (the handler then adopts the slot that its timer names). Initial-exec, so reading it
// never allocates. Written only by the thread itself.
extern constinit thread_local ThreadSlot* tls_thread_slot
    __attribute__((tls_model("initial-exec")));

// The tid of the thread when it took tls_thread_slot. A slot whose os_tid differs was given to
// another thread since (a recording ended), and a late signal must not use it.
extern constinit thread_local int32_t tls_os_tid __attribute__((tls_model("initial-exec")));

// Returns the calling thread's slot; null if it has none any more.
inline ThreadSlot* CurrentThreadSlot() {
  ThreadSlot* const slot = tls_thread_slot;
  return slot != nullptr && slot->os_tid == tls_os_tid ? slot : nullptr;
}

}  // namespace jtrace::samples
