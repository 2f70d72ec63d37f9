#include "agent/probes/native_unwind.h"

#include <atomic>
#include <string>

#include "agent/probes/class_definer.h"
#include "agent/probes/probe_class.h"

namespace jtrace {
namespace {

constexpr char kNativeUnwind[] = "jtrace/NativeUnwind";
std::atomic<UnwindFunction> take{nullptr};
bool defined = false;  // under the lock of the code that starts recordings

void JNICALL Take(JNIEnv*, jclass, jint routine) {
  take.load(std::memory_order_relaxed)(static_cast<uint32_t>(routine));
}

absl::Status Refused(JNIEnv* jni) {
  jni->ExceptionClear();
  return absl::FailedPreconditionError("this JVM rejects the probe of unwind=");
}

bool Works(JNIEnv* jni, jclass probe) {
  const jmethodID works = jni->GetStaticMethodID(probe, "works", "()Z");
  return works != nullptr && jni->CallStaticBooleanMethod(probe, works) == JNI_TRUE &&
         jni->ExceptionCheck() == JNI_FALSE;
}

}  // namespace

absl::Status DefineUnwindProbe(JNIEnv* jni, UnwindFunction function) {
  if (defined) return absl::OkStatus();
  take.store(function, std::memory_order_relaxed);
  const JNINativeMethod method = {const_cast<char*>("take"), const_cast<char*>("(I)V"),
                                  reinterpret_cast<void*>(&Take)};
  jclass natives = DefineBootClass(jni, kNativeUnwind, EmbeddedNativeUnwind());
  if (natives == nullptr || jni->RegisterNatives(natives, &method, 1) != 0) return Refused(jni);
  jclass probe = DefineBootClass(jni, std::string(kUnwindClass).c_str(), EmbeddedUnwindClass());
  if (probe == nullptr || !Works(jni, probe)) return Refused(jni);
  jni->DeleteLocalRef(natives);
  jni->DeleteLocalRef(probe);
  defined = true;
  return absl::OkStatus();
}

}  // namespace jtrace
