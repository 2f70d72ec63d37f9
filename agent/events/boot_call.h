// Registers natives of the JDK as its own classes do: HotSpot prints a warning on standard output
// if a class of another loader does it, or none.
#pragma once

#include <jni.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace jtrace::events {

// Calls `work` from a native method of a class of the boot loader. One at a time, in the live
// phase.
absl::Status CallFromBootClass(JNIEnv* jni, absl::FunctionRef<void()> work);

}  // namespace jtrace::events
