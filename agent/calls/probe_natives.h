// The native methods of the probes, and the classes that have them. Native methods must be
// registered outside of java.base, whose classes cannot refer to such a class. So there are two
// classes: that in java.base calls the native method of the other through a method handle.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace jtrace::calls {

// The class with the native method, in the boot loader's unnamed module.
struct NativeMethodClass {
  const char* name;  // internal
  absl::Span<const uint8_t> bytes;
  JNINativeMethod method;
};

// Defines `half`, and into java.base the class `name` that calls it; then calls that class's
// `static boolean works()`, which initializes it. In VMInit or later. Returns whether it works; no
// Java exception is left pending.
bool DefineWithNativeClass(JNIEnv* jni, const NativeMethodClass& half, const char* name,
                           absl::Span<const uint8_t> bytes);

// The clock (JTraceClock.java).

// Defines jtrace.NativeClock into the boot loader's unnamed module with its native methods. Errors:
// FailedPrecondition if the JVM rejects it; no Java exception is left pending.
absl::Status DefineNativeClock(JNIEnv* jni);

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
