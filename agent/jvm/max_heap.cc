#include "agent/jvm/max_heap.h"

namespace jtrace::jvm {
namespace {

jlong MaxMemory(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/Runtime");
  if (type == nullptr) return 0;
  jmethodID get = jni->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;");
  if (get == nullptr) return 0;
  jobject runtime = jni->CallStaticObjectMethod(type, get);
  if (jni->ExceptionCheck() == JNI_TRUE || runtime == nullptr) return 0;
  jmethodID max = jni->GetMethodID(type, "maxMemory", "()J");
  return max == nullptr ? 0 : jni->CallLongMethod(runtime, max);
}

}  // namespace

uint64_t MaxHeap(JNIEnv* jni) {
  constexpr jint kReferences = 4;
  if (jni->PushLocalFrame(kReferences) != 0) {
    jni->ExceptionClear();
    return 0;
  }
  const jlong bytes = MaxMemory(jni);
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

}  // namespace jtrace::jvm
