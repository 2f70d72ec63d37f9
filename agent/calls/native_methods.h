// The native methods of the probes, and the classes that have them. Natives must be registered
// outside of java.base, which does not see such a class: so there are two, and the inner one calls
// through a handle.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "agent/signal_safe/counter_block.h"

namespace jtrace::calls {

// The class with the native method, of the boot loader's unnamed module.
struct NativeHalf {
  const char* name;  // internal
  absl::Span<const uint8_t> bytes;
  JNINativeMethod method;
};

// Defines `half`, then the class that calls it, into java.base, and asks that one `static boolean
// works()`, which initializes it. In VMInit or later. Returns whether it works; no Java exception
// is left pending.
bool DefineWithNativeHalf(JNIEnv* jni, const NativeHalf& half, const char* name,
                          absl::Span<const uint8_t> bytes);

// Native functions that the probes' clock calls (JTraceClock.java).

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

// What the probes' counters call (JTraceMetrics.java): keeps the counters of threads. All calls are
// on the thread that they are about, from Java.
class CounterKeeper {
 public:
  virtual ~CounterKeeper() = default;
  // Its block, made if there is none; null without memory. `java_thread`: 0 for a virtual thread.
  virtual signal_safe::CounterBlock* BlockOf(uint64_t java_tid, bool is_virtual,
                                             uint64_t java_thread) = 0;
  // Whether the thread ran before the recording: its counts up to now belong to none.
  virtual bool RanBefore(const signal_safe::CounterBlock& block) const = 0;
  virtual absl::StatusOr<int64_t> Own(uint32_t metric) = 0;
  virtual const signal_safe::AllocLayout& layout() const = 0;
};

// Defines JTraceMetrics and the classes it calls, once per JVM, in VMInit or later. `keeper` must
// live forever. Nothing is printed; no Java exception is left pending. FailedPrecondition: the JVM
// rejects it. JTraceMetrics is initialized by its first use, which takes 10 to 20 ms: not every
// program has one.
absl::Status DefineCounters(JNIEnv* jni, CounterKeeper* keeper);
// Initializes it, for probes that are going to use it. Internal: it disagrees with counter_block.h.
absl::Status InitializeCounters(JNIEnv* jni);

// The probe of instrumented unwinds (JTraceUnwind.java).

// Internal name of the class with `static void take(int)`, which rewritten methods call.
inline constexpr absl::string_view kUnwindClass = "java/lang/invoke/JTraceUnwind";

// Called at each entry of a method with the probe.
using UnwindFunction = void (*)(uint32_t routine);

// Defines the class into java.base and its native half into the boot loader's unnamed module; once
// per JVM is enough, the first function stays in use. In VMInit or later. Error: FailedPrecondition
// if the JVM rejects it; no Java exception is left pending.
absl::Status DefineUnwindProbe(JNIEnv* jni, UnwindFunction function);

// The sleep of threads whose logs are full (overflow=wait, JTraceWait.java).

// Defines the class into java.base and its native half into the boot loader's unnamed module,
// before a LogCollector lets threads wait; once per JVM is enough. In VMInit or later, one thread
// at a time. Error: FailedPrecondition if the JVM rejects it; no Java exception is left pending.
absl::Status DefineLogWait(JNIEnv* jni);

}  // namespace jtrace::calls
