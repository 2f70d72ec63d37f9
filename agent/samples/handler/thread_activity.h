// A sampled thread's activity: running, or the reason why it waits.
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

// The activity of the calling thread, which a signal interrupted at `context`. The JVM's own state
// (OSThread and JavaThread) takes precedence; else a thread is blocked if the signal ended a system
// call. vm: null if the layout is not known; java_thread: 0 for a thread that runs no Java code.
// Async-signal-safe.
Activity ActivityOf(const VmLayout* vm, uintptr_t java_thread, const ucontext_t* context);

// Reads from a thread's objects, in its signal handler: what it waits on (the class of the
// monitor's object, or of a park's blocker), and which java.lang.Thread it is.

// False: the thread waits on something, or may, that could not be read now (a collection moved
// objects meanwhile) or cannot be read at all (HeapLayout::readable). Else `klass` is the JVM's
// Klass of the object, 0 if the thread waits on none.
//
// On the waiting thread itself, in its signal handler: objects that its JavaThread refers to cannot
// be freed meanwhile. The object keeps its class alive; that the Klass is one is checked, and a
// later lookup (ClassRegistry::ClassOf) knows it as a reported class or not at all. `java_thread`
// must not be 0. Async-signal-safe; every load is guarded.
[[nodiscard]] bool FindBlocker(const signal_safe::HeapLayout& heap, uintptr_t java_thread,
                               Activity activity, uintptr_t* klass);

// The id of the java.lang.Thread that the JavaThread runs, a mounted virtual one first. False if it
// cannot be read, or not now. As above.
[[nodiscard]] bool FindThreadId(const signal_safe::HeapLayout& heap, uintptr_t java_thread,
                                uint64_t* id);

}  // namespace jtrace::samples
