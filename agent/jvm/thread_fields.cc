#include "agent/jvm/thread_fields.h"

#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {

bool ThreadFields::Find(JNIEnv* jni) {
  if (eetop_.load() != nullptr) return true;
  const LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
  const jfieldID tid = klass.get() != nullptr ? jni->GetFieldID(klass.get(), "tid", "J") : nullptr;
  const jfieldID eetop = tid != nullptr ? jni->GetFieldID(klass.get(), "eetop", "J") : nullptr;
  if (eetop == nullptr) {
    jni->ExceptionClear();
    return false;
  }
  tid_.store(tid);
  eetop_.store(eetop);
  return true;
}

ThreadIdentity ThreadFields::Of(JNIEnv* jni, jthread thread) {
  if (!Find(jni)) return {};
  return {.java_tid = static_cast<uint64_t>(jni->GetLongField(thread, tid_.load())),
          .java_thread = static_cast<uintptr_t>(jni->GetLongField(thread, eetop_.load()))};
}

uint64_t ThreadFields::JavaTid(JNIEnv* jni, jthread thread) {
  return Find(jni) ? static_cast<uint64_t>(jni->GetLongField(thread, tid_.load())) : 0;
}

}  // namespace jtrace::jvm
