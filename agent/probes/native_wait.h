// The sleep of threads whose logs are full (overflow=wait, JTraceWait.java).
#pragma once

#include <jni.h>

#include "absl/status/status.h"

namespace jtrace {

// Defines the class into java.base and its native half into the boot loader's unnamed module,
// before a LogCollector lets threads wait; once per JVM is enough. In VMInit or later, one thread
// at a time. Error: FailedPrecondition if the JVM rejects it; no Java exception is left pending.
absl::Status DefineLogWait(JNIEnv* jni);

}  // namespace jtrace
