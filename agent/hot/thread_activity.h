// A sampled thread's activity: running, or the reason why it waits.
#pragma once

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
  kParked = 4,    // never set here: parked and sleeping threads look the same
  kSleeping = 5,  // never set here
  kWaiting = 6,
  kBlocked = 7,
};

// The activity of the calling thread, which a signal interrupted at `context`. The JVM's own state
// (OSThread and JavaThread) takes precedence; else a thread is blocked if the signal ended a system
// call. vm: null if the layout is not known; java_thread: 0 for a thread that runs no Java code.
// Async-signal-safe.
Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context);

}  // namespace jtrace::hot
