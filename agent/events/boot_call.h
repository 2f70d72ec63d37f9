// Runs code on behalf of a class of the boot loader: if a class of another loader, or none,
// registers natives of the JDK, HotSpot prints a warning on standard output.
#pragma once

#include <jni.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace jtrace::events {

// Calls `work` from a native method of jtrace.NativeIo, which the boot loader has. One at a time,
// in the live phase. An error if the JVM rejects that class.
absl::Status CallFromBootClass(JNIEnv* jni, absl::FunctionRef<void()> work);

}  // namespace jtrace::events
