// The record that the signal handler passes to the writer: one sample.
#pragma once

#include <cstdint>

#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

// The head of a record in a sample ring. `frame_count` Frames follow it.
struct SampleHeader {
  uint64_t time_ns;        // CLOCK_MONOTONIC
  uint64_t node;           // the thread's current tree node; valid if position_known
  uint64_t java_tid;       // Thread.threadId() of the thread or the mounted virtual thread; 0: none
  uint32_t thread_number;  // as given at attach
  int32_t os_tid;
  uint32_t weight;  // timer ticks that this sample represents, at least 1
  uint32_t frame_count;
  ChainEnd end;
  bool position_known;
  Activity activity;
  bool is_unwind;       // 0x41: taken at the entry of a chosen method, no tick
  uint32_t handler_ns;  // time in the signal handler so far
  uint32_t number;      // timer=wall: of this sample in its slot
  // timer=wall: ticks since the slot's previous sample in which the thread used no CPU time; they
  // count for that sample.
  uint32_t idle_ticks;
  uint64_t idle_time_ns;    // the time of the last of these ticks, CLOCK_MONOTONIC
  uintptr_t blocker_klass;  // class of the object that the thread waits on; 0: unknown
  // The method that a waiting Java thread is in, if the frames may lack it (stack=); else kUnknown.
  Frame wait_frame;
  uint32_t labels;  // of the Java thread (thread_labels.h)
  // Code whose debug information the writer still has to check
  // (agent/jvm/hotspot/debug_non_safepoints.h).
  UncheckedFrame unchecked;
};
static_assert(sizeof(SampleHeader) == 120);

// timer=wall: ticks during which a thread stayed as in its last sample, the last of them at time_ns
// (CLOCK_MONOTONIC).
struct IdleTicks {
  uint32_t ticks;
  uint64_t time_ns;
};

// A sample as the writer sees it; valid only during the call that passes it.
struct SampleView {
  const SampleHeader& header;
  uint32_t thread_slot;  // number of the thread's slot
  const Frame* frames;   // header.frame_count of them, interrupted routine first
};

// How much of a stack a sample has (stack=). If the thread was in the kernel, the kernel's frames
// are part of its stack.
enum class StackMode : uint8_t {
  kFull,      // every frame
  kApp,       // the frames of the application: Java methods in scope
  kFrame,     // the topmost frame of the whole stack, inlined methods distinguished
  kAppFrame,  // the topmost frame of the application; no frame if it has none
  kPc,        // the program counter, named by the code there; no debug information is read
};

}  // namespace jtrace::samples
