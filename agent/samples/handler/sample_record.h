// The record that the signal handler passes to the writer: one sample.
#pragma once

#include <cstdint>

#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

// The head of a record in a sample ring; followed by `frame_count` Frames.
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
  // timer=wall: the number of this sample in its slot, and the idle ticks counted for the one
  // before, the last of them at idle_time_ns.
  uint32_t number;
  uint32_t idle_ticks;
  uint64_t idle_time_ns;
  uintptr_t blocker_klass;  // of the object a thread waits on (thread_activity.h); 0: unknown
  // The Java method that a waiting thread is in, where the frames may not have it (stack=);
  // kUnknown: unknown.
  Frame wait_frame;
  uint32_t labels;  // of the Java thread (thread_labels.h)
  // The writer checks it, and corrects its frames (agent/jvm/debug_non_safepoints).
  UncheckedFrame unchecked;
};
static_assert(sizeof(SampleHeader) == 120);

// Ticks during which a thread of a wall timer stayed as in its last sample, the last of them at
// time_ns.
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

// How much of a stack a sample takes (stack=).

// S1.1 to S1.4. Where the thread was in the kernel, the kernel's frames are part of its stack.
enum class StackMode : uint8_t {
  kFull,      // every frame
  kApp,       // the frames of the application: Java methods in scope
  kFrame,     // the topmost frame of the whole stack, inlined methods distinguished
  kAppFrame,  // the topmost frame of the application; no frame if it has none
  kPc,        // the program counter, named by the code there; no debug information is read
};

}  // namespace jtrace::samples
