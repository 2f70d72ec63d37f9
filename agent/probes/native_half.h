// Classes of the probes that have a native method. Natives must be registered outside of java.base,
// which does not see such a class: so there are two, and the inner one calls through a handle.
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/types/span.h"

namespace jtrace {

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

}  // namespace jtrace
