#include "agent/jvm/thread_fields.h"

#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

using samples::kAbsent;
using samples::Offset;

// Room for local references. The end of the scope deletes them, and clears a pending exception.
class JavaFrame {
 public:
  explicit JavaFrame(JNIEnv* env) : env_(env), pushed_(env->PushLocalFrame(8) == JNI_OK) {}
  ~JavaFrame() {
    if (env_->ExceptionCheck() == JNI_TRUE) env_->ExceptionClear();
    if (pushed_) env_->PopLocalFrame(nullptr);
  }
  bool pushed() const { return pushed_; }

 private:
  JNIEnv* env_;
  bool pushed_;
};

}  // namespace

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

Offset ThreadFieldOffset(JNIEnv* env, const char* field) {
  const JavaFrame frame(env);
  if (!frame.pushed()) return kAbsent;
  jclass const thread = env->FindClass("java/lang/Thread");
  jclass const unsafe = thread != nullptr ? env->FindClass("jdk/internal/misc/Unsafe") : nullptr;
  if (unsafe == nullptr) return kAbsent;
  jmethodID const get = env->GetStaticMethodID(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  if (get == nullptr) return kAbsent;
  jmethodID const offset =
      env->GetMethodID(unsafe, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  if (offset == nullptr) return kAbsent;
  jobject const instance = env->CallStaticObjectMethod(unsafe, get);
  if (env->ExceptionCheck() == JNI_TRUE || instance == nullptr) return kAbsent;
  jstring const name = env->NewStringUTF(field);
  if (name == nullptr) return kAbsent;
  const jlong found = env->CallLongMethod(instance, offset, thread, name);
  if (env->ExceptionCheck() == JNI_TRUE) return kAbsent;
  constexpr jlong kLargestThread = 4096;
  return found > 0 && found < kLargestThread ? static_cast<Offset>(found) : kAbsent;
}

std::optional<jlong> CurrentThreadField(JNIEnv* env, const char* field) {
  const JavaFrame frame(env);
  if (!frame.pushed()) return std::nullopt;
  jclass const thread = env->FindClass("java/lang/Thread");
  jfieldID const id = thread == nullptr ? nullptr : env->GetFieldID(thread, field, "J");
  if (id == nullptr) return std::nullopt;
  jmethodID const current = env->GetStaticMethodID(thread, "currentThread", "()Ljava/lang/Thread;");
  if (current == nullptr) return std::nullopt;
  jobject const object = env->CallStaticObjectMethod(thread, current);
  // currentThread throws nothing, but -Xcheck:jni requires a check.
  if (env->ExceptionCheck() == JNI_TRUE || object == nullptr) return std::nullopt;
  return env->GetLongField(object, id);
}

}  // namespace jtrace::jvm
