// Native functions that the probes' clock calls (JTraceClock.java).
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"

namespace jtrace {

// The time-stamp counter (aarch64: the virtual count of the generic timer), without waiting for
// earlier instructions. Compiled Java code calls it like its own function: it must not block, throw
// or call back.
extern "C" uint64_t jtrace_ticks();
// The kernel's name of the clock that reads this counter.
extern const char kSteadyClockSource[];

// Whether the kernel itself keeps time by the time-stamp counter, i.e. trusts it to be steady and
// the same on all processors.
bool TicksAreSteady();

// Defines jtrace.NativeClock into the boot loader's unnamed module with its native methods. Errors:
// FailedPrecondition if the JVM rejects it; no Java exception is left pending.
absl::Status DefineNativeClock(JNIEnv* jni);

}  // namespace jtrace
