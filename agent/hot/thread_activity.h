// What a sampled thread was doing: running, or what it waits for.
#ifndef JTRACE_AGENT_HOT_THREAD_ACTIVITY_H_
#define JTRACE_AGENT_HOT_THREAD_ACTIVITY_H_

#include <ucontext.h>

#include <cstdint>

#include "agent/hot/walk/vm_layout.h"

namespace jtrace::hot {

// The numbers are those of proto Sample.State.
enum class Activity : uint8_t {
  kRunning = 0,
  kUnknown = 1,
  kMonitor = 2,
  kObjectWait = 3,
  kParked = 4,    // never told here: a parked thread and one asleep look the same
  kSleeping = 5,  // never told here
  kWaiting = 6,
  kBlocked = 7,
};

// Of the calling thread, which a signal interrupted at `context`. The JVM's own word (OSThread and
// JavaThread) goes first; else a thread is blocked if the signal ended a system call.
// vm: null if the layout is not known; java_thread: 0 of a thread that runs no Java code.
// Async-signal-safe.
Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_THREAD_ACTIVITY_H_
