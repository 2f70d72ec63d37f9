// The probe of instrumented unwinds (JTraceUnwind.java).
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jtrace {

// Internal name of the class with `static void take(int)`, which rewritten methods call.
inline constexpr absl::string_view kUnwindClass = "java/lang/invoke/JTraceUnwind";

// Called at each entry of a method with the probe.
using UnwindFunction = void (*)(uint32_t routine);

// Defines the class into java.base and its native half into the boot loader's unnamed module; once
// per JVM is enough, the first function stays in use. In VMInit or later. Error: FailedPrecondition
// if the JVM rejects it; no Java exception is left pending.
absl::Status DefineUnwindProbe(JNIEnv* jni, UnwindFunction function);

}  // namespace jtrace
