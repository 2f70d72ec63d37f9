// Thin helpers over the raw JVMTI environment: memory that frees itself, errors as Status,
// capabilities and events that JDK 17's header does not know yet (virtual threads, JDK 21).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/samples/handler/own_work.h"

namespace jtrace::jvm {

// OK for JVMTI_ERROR_NONE, else the call's name and the error's.
absl::Status ToStatus(jvmtiEnv* env, jvmtiError error, const char* call);
// "JVMTI_ERROR_FAILS_VERIFICATION"; "error 62" if the JVM has no name for it.
std::string ErrorName(jvmtiEnv* env, jvmtiError error);

// "com.acme.Cache"; "" if the JVM does not say.
std::string ClassName(jvmtiEnv* env, jclass klass);

// A further environment, so that a JVM enables nothing that was not requested, and callbacks of one
// event are independent of those of others. Its callbacks find the owner; null: the JVM gives none.
jvmtiEnv* NewEnvironment(JavaVM* vm, void* owner, const jvmtiEventCallbacks& callbacks);

// Of NewEnvironment. Null in a late callback, whose environment has been disposed of.
template <typename T>
T* OwnerOf(jvmtiEnv* env) {
  void* owner = nullptr;
  env->GetEnvironmentLocalStorage(&owner);
  return static_cast<T*>(owner);
}

template <auto method>
struct OwnersMethod;
template <typename T, typename... Arguments, void (T::*method)(Arguments...)>
struct OwnersMethod<method> {
  static void JNICALL Call(jvmtiEnv* env, Arguments... arguments) {
    if (T* const owner = OwnerOf<T>(env)) (owner->*method)(arguments...);
  }
};

// The callback of an event as a method of the environment's owner, which takes the arguments that
// follow the environment.
template <auto method>
inline constexpr auto kCallback = samples::kAsOwn<OwnersMethod<method>::Call>;

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
  explicit LocalFrame(JNIEnv* jni) : jni_(jni), pushed_(jni->PushLocalFrame(kCapacity) == 0) {}
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

struct ThreadIdentity {
  uint64_t java_tid = 0;      // Thread.getId(), ignoring overrides in subclasses
  uintptr_t java_thread = 0;  // the JVM's structure (Thread.eetop); 0: a virtual thread has none
};

// Reads them from java.lang.Thread's fields, without calling Java. Any Java thread.
class ThreadFields {
 public:
  // Zeros: the JVM is short of memory or stack; the next call tries again.
  ThreadIdentity Of(JNIEnv* jni, jthread thread);
  uint64_t JavaTid(JNIEnv* jni, jthread thread);

 private:
  bool Learn(JNIEnv* jni);

  std::atomic<jfieldID> tid_{nullptr};
  std::atomic<jfieldID> eetop_{nullptr};  // once both are known
};

// Events of JDK 21 and later.
inline constexpr auto kVirtualThreadStart = static_cast<jvmtiEvent>(87);
inline constexpr auto kVirtualThreadEnd = static_cast<jvmtiEvent>(88);

// JDK 17's callbacks followed by those of the newer events; pass sizeof(Callbacks) to
// SetEventCallbacks. A JVM that does not know them ignores the rest.
struct Callbacks {
  jvmtiEventCallbacks base;
  jvmtiEventThreadStart virtual_thread_start;
  jvmtiEventThreadEnd virtual_thread_end;
};
static_assert(sizeof(jvmtiEventCallbacks) == (86 - 50 + 1) * sizeof(void*),
              "the table ends at SampledObjectAlloc (86), where JDK 21's continues");

// The result of AddCapabilities.
struct Granted {
  bool virtual_threads = false;  // requested, and the JVM has them (JDK 21)
  // Requested but unavailable capabilities, for people: most JVMs grant some only at load.
  std::vector<std::string> refused;
};

// Adds those of `wanted` that the JVM offers and, if requested, events of virtual threads.
absl::StatusOr<Granted> AddCapabilities(jvmtiEnv* env, jvmtiCapabilities wanted,
                                        bool virtual_threads);

absl::Status EnableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events);
absl::Status DisableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events);

// A copy in memory that the JVM may free, as ClassFileLoadHook wants it; empty if there is none.
std::span<unsigned char> CopyForJvm(jvmtiEnv* env, std::span<const unsigned char> bytes);

// A system property, or "" if it is not set.
std::string SystemProperty(jvmtiEnv* env, const char* name);

// HotSpot names hidden classes "pkg/Foo$$Lambda.0x0123…" (JDK 21+) or "pkg/Foo$$Lambda$14/0x…": a
// '.' or a '/' after the last name part, which no ordinary signature has.
bool IsHiddenSignature(absl::string_view signature);

}  // namespace jtrace::jvm
