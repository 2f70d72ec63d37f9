// Thin helpers over the raw JVMTI and JNI environments: memory that frees itself, errors as Status.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jtrace::jvm {

// Returns OK for JVMTI_ERROR_NONE, else a status with the names of the call and of the error.
absl::Status ToStatus(jvmtiEnv* env, jvmtiError error, const char* call);
// "JVMTI_ERROR_FAILS_VERIFICATION"; "error 62" if the JVM has no name for it.
std::string ErrorName(jvmtiEnv* env, jvmtiError error);

// "com.acme.Cache"; "" if the JVM does not say.
std::string ClassName(jvmtiEnv* env, jclass klass);

// Memory that JVMTI allocated for the caller.
template <typename T>
class Allocated {
 public:
  explicit Allocated(jvmtiEnv* env) : env_(env) {}
  ~Allocated() {
    if (pointer_ != nullptr) env_->Deallocate(reinterpret_cast<unsigned char*>(pointer_));
  }
  Allocated(const Allocated&) = delete;
  Allocated& operator=(const Allocated&) = delete;

  T** out() { return &pointer_; }
  T* get() const { return pointer_; }
  T& operator[](size_t i) const { return pointer_[i]; }

 private:
  jvmtiEnv* env_;
  T* pointer_ = nullptr;
};

// A JNI local reference that is deleted at the end of its scope; callbacks that loop need it.
template <typename T>
class LocalRef {
 public:
  LocalRef(JNIEnv* jni, T object) : jni_(jni), object_(object) {}
  ~LocalRef() {
    if (object_ != nullptr) jni_->DeleteLocalRef(object_);
  }
  LocalRef(const LocalRef&) = delete;
  LocalRef& operator=(const LocalRef&) = delete;
  T get() const { return object_; }

 private:
  JNIEnv* jni_;
  T object_;
};

// Room for many JNI local references, all of which end with the scope: JVMTI calls that list
// classes or threads hand out one for each.
class LocalFrame {
 public:
  // Pushes no frame if there is no memory, and leaves no exception that was not pending before.
  explicit LocalFrame(JNIEnv* jni) : jni_(jni) {
    const bool was_pending = jni->ExceptionCheck() != JNI_FALSE;
    pushed_ = jni->PushLocalFrame(kCapacity) == 0;
    if (!pushed_ && !was_pending) jni->ExceptionClear();
  }
  ~LocalFrame() {
    if (pushed_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;

 private:
  static constexpr jint kCapacity = 1 << 16;
  JNIEnv* jni_;
  bool pushed_;
};

// Calls visit(jthread) for each platform thread that runs. On a Java thread.
template <typename Visit>
void ForEachThread(jvmtiEnv* env, JNIEnv* jni, Visit visit) {
  const LocalFrame frame(jni);
  jint count = 0;
  Allocated<jthread> running(env);
  if (env->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) visit(running[i]);
}

// Copies `bytes` to memory that the JVM frees, as ClassFileLoadHook requires; empty: no memory.
std::span<unsigned char> CopyForJvm(jvmtiEnv* env, std::span<const unsigned char> bytes);

// Returns a system property, or "" if it is not set.
std::string SystemProperty(jvmtiEnv* env, const char* name);

// Returns the bytes to which the Java heap may grow (Runtime.maxMemory); 0 if unknown. In VMInit or
// later, on a Java thread; leaves no Java exception pending.
uint64_t MaxHeap(JNIEnv* jni);

// HotSpot names hidden classes "pkg/Foo$$Lambda.0x0123…" (JDK 21+) or "pkg/Foo$$Lambda$14/0x…": a
// '.' or a '/' after the last name part, which no ordinary signature has.
bool IsHiddenSignature(absl::string_view signature);

}  // namespace jtrace::jvm
