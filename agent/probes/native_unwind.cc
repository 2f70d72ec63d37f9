#include "agent/probes/native_unwind.h"

#include <atomic>
#include <string>

#include "agent/probes/native_half.h"
#include "agent/probes/probe_class.h"

namespace jtrace {
namespace {

std::atomic<UnwindFunction> take{nullptr};
bool unwind_defined = false;  // under the lock of the code that starts recordings

void JNICALL Take(JNIEnv*, jclass, jint routine) {
  take.load(std::memory_order_relaxed)(static_cast<uint32_t>(routine));
}

}  // namespace

absl::Status DefineUnwindProbe(JNIEnv* jni, UnwindFunction function) {
  if (unwind_defined) return absl::OkStatus();
  take.store(function, std::memory_order_relaxed);
  const NativeHalf half = {
      "jtrace/NativeUnwind",
      EmbeddedNativeUnwind(),
      {const_cast<char*>("take"), const_cast<char*>("(I)V"), reinterpret_cast<void*>(&Take)}};
  if (!DefineWithNativeHalf(jni, half, std::string(kUnwindClass).c_str(), EmbeddedUnwindClass())) {
    return absl::FailedPreconditionError("this JVM rejects the probe of unwind=");
  }
  unwind_defined = true;
  return absl::OkStatus();
}

}  // namespace jtrace
