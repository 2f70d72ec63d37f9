// A sampled thread's activity: running, or why it waits, and on what object. In its signal handler.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/samples/walk/vm_layout.h"
#include "agent/signal_safe/heap_layout.h"

namespace jtrace::samples {

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

// Returns the activity of the calling thread, which a signal interrupted at `context`. The JVM's
// own state (OSThread and JavaThread) takes precedence; else a thread is blocked if the signal
// ended a system call. vm: null if the layout is not known; java_thread: 0 for a thread that runs
// no Java code. Async-signal-safe.
Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context);

// Finds the class of the object that a thread waits on: a monitor's object, or a park's blocker.
// `klass` is the JVM's Klass of the object, 0 if the thread waits on none. False: the object could
// not be read now (a collection moved objects meanwhile), or never can (HeapLayout::readable).
//
// Called on the waiting thread itself, in its signal handler, so objects that its JavaThread refers
// to are not freed meanwhile. The object keeps its class alive. A check shows whether the Klass is
// one, and a later lookup (ClassRegistry::ClassOf) finds a reported class or none. `java_thread`
// must not be 0. Async-signal-safe; every load is guarded.
[[nodiscard]] bool FindBlocker(const signal_safe::HeapLayout& heap, uintptr_t java_thread,
                               Activity activity, uintptr_t* klass);

// Reads the id of the java.lang.Thread that the JavaThread runs: the mounted virtual thread, if
// there is one. False if it cannot be read, or not now. The conditions are those of FindBlocker.
[[nodiscard]] bool FindThreadId(const signal_safe::HeapLayout& heap, uintptr_t java_thread,
                                uint64_t* id);

}  // namespace jtrace::samples
