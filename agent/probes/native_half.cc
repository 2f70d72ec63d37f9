#include "agent/probes/native_half.h"

#include "agent/probes/class_definer.h"

namespace jtrace {
namespace {

bool Define(JNIEnv* jni, const NativeHalf& half, const char* name,
            absl::Span<const uint8_t> bytes) {
  jclass natives = DefineBootClass(jni, half.name, half.bytes);
  if (natives == nullptr || jni->RegisterNatives(natives, &half.method, 1) != 0) return false;
  jclass caller = DefineBootClass(jni, name, bytes);
  if (caller == nullptr) return false;
  const jmethodID works = jni->GetStaticMethodID(caller, "works", "()Z");
  const bool answer = works != nullptr && jni->CallStaticBooleanMethod(caller, works) == JNI_TRUE;
  jni->DeleteLocalRef(natives);
  jni->DeleteLocalRef(caller);
  return answer && jni->ExceptionCheck() == JNI_FALSE;
}

}  // namespace

bool DefineWithNativeHalf(JNIEnv* jni, const NativeHalf& half, const char* name,
                          absl::Span<const uint8_t> bytes) {
  const bool works = Define(jni, half, name, bytes);
  jni->ExceptionClear();
  return works;
}

}  // namespace jtrace
