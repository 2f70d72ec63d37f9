#include "agent/events/park_natives.h"

#include <array>
#include <atomic>
#include <string_view>

#include "agent/base/clock.h"
#include "agent/events/boot_call.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::events {
namespace {

using ParkFunction = void(JNICALL*)(JNIEnv*, jobject, jboolean, jlong);
using UnparkFunction = void(JNICALL*)(JNIEnv*, jobject, jobject);
using RegisterFunction = jint(JNICALL*)(JNIEnv*, jclass, const JNINativeMethod*, jint);

// The JVM's own functions; known before the replacements can be called.
constinit std::atomic<ParkFunction> g_park{nullptr};
constinit std::atomic<UnparkFunction> g_unpark{nullptr};
constinit std::atomic<ParkListener*> g_listener{nullptr};
// JNI's own function, while Collect is in its place.
constinit std::atomic<RegisterFunction> g_register{nullptr};
// Whether Collect keeps the natives that the thread registers.
constinit thread_local bool t_keeps_natives = false;

void JNICALL ParkInPlace(JNIEnv* jni, jobject unsafe, jboolean is_absolute, jlong time) {
  const ParkFunction original = g_park.load(std::memory_order_acquire);
  ParkListener* const listener = g_listener.load(std::memory_order_acquire);
  if (listener == nullptr) return original(jni, unsafe, is_absolute, time);
  ParkCall call = {
      .begin_ns = MonotonicNanos(), .is_absolute = is_absolute == JNI_TRUE, .time = time};
  original(jni, unsafe, is_absolute, time);
  signal_safe::RunAsAgent([&] {
    call.end_ns = MonotonicNanos();
    listener->Parked(jni, call);
  });
}

void JNICALL UnparkInPlace(JNIEnv* jni, jobject unsafe, jobject thread) {
  const UnparkFunction original = g_unpark.load(std::memory_order_acquire);
  ParkListener* const listener = g_listener.load(std::memory_order_acquire);
  // Before the unpark: the parked thread may ask who it was as soon as its park ends.
  if (listener != nullptr && thread != nullptr) {
    signal_safe::RunAsAgent([&] { listener->Unparks(jni, thread); });
  }
  original(jni, unsafe, thread);
}

// Stands in for JNI's RegisterNatives while the JVM registers the natives of Unsafe once more:
// keeps the addresses of two of them, and registers none.
jint JNICALL Collect(JNIEnv* jni, jclass klass, const JNINativeMethod* methods, jint count) {
  if (!t_keeps_natives)
    return g_register.load(std::memory_order_acquire)(jni, klass, methods, count);
  for (jint i = 0; i < count; ++i) {
    const std::string_view name = methods[i].name;
    if (name == "park") g_park.store(reinterpret_cast<ParkFunction>(methods[i].fnPtr));
    if (name == "unpark") g_unpark.store(reinterpret_cast<UnparkFunction>(methods[i].fnPtr));
  }
  return JNI_OK;
}

// A copy of JNI's functions as they are now, other agents' changes included.
absl::Status ReadTable(jvmtiEnv* env, jvm::Allocated<jniNativeInterface>& table) {
  const jvmtiError error = env->GetJNIFunctionTable(table.out());
  return error == JVMTI_ERROR_NONE ? absl::OkStatus()
                                   : jvm::ToStatus(env, error, "GetJNIFunctionTable");
}

absl::Status SetRegister(jvmtiEnv* env, jniNativeInterface& table, RegisterFunction function) {
  table.RegisterNatives = function;
  const jvmtiError error = env->SetJNIFunctionTable(&table);
  return error == JVMTI_ERROR_NONE ? absl::OkStatus()
                                   : jvm::ToStatus(env, error, "SetJNIFunctionTable");
}

// Another agent may have replaced Collect in the table meanwhile. Then Collect stays behind that
// agent's function, and only calls JNI's.
absl::Status RestoreRegister(jvmtiEnv* env) {
  jvm::Allocated<jniNativeInterface> table(env);
  if (absl::Status status = ReadTable(env, table); !status.ok()) return status;
  if (table.get()->RegisterNatives != &Collect) return absl::OkStatus();
  return SetRegister(env, *table.get(), g_register.load());
}

// Finds HotSpot's functions, which have no symbols; nothing reports a native that is already bound.
absl::Status CollectOriginals(jvmtiEnv* env, JNIEnv* jni, jclass unsafe) {
  const jmethodID registers = jni->GetStaticMethodID(unsafe, "registerNatives", "()V");
  if (registers == nullptr) return absl::FailedPreconditionError("its natives are not known");
  jvm::Allocated<jniNativeInterface> table(env);
  absl::Status status = ReadTable(env, table);
  if (!status.ok()) return status;
  g_register.store(table.get()->RegisterNatives);
  status = SetRegister(env, *table.get(), &Collect);
  if (!status.ok()) return status;
  t_keeps_natives = true;
  jni->CallStaticVoidMethod(unsafe, registers);
  t_keeps_natives = false;
  status = RestoreRegister(env);
  if (!status.ok()) return status;
  if (g_park.load() != nullptr && g_unpark.load() != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("its natives are not known");
}

absl::Status Replace(jvmtiEnv* env, JNIEnv* jni) {
  const jvm::LocalRef<jclass> unsafe(jni, jni->FindClass("jdk/internal/misc/Unsafe"));
  absl::Status status = absl::FailedPreconditionError("it has no jdk.internal.misc.Unsafe");
  if (unsafe.get() != nullptr) status = CollectOriginals(env, jni, unsafe.get());
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (!status.ok()) return status;
  const std::array natives = {
      JNINativeMethod{const_cast<char*>("park"), const_cast<char*>("(ZJ)V"),
                      reinterpret_cast<void*>(&ParkInPlace)},
      JNINativeMethod{const_cast<char*>("unpark"), const_cast<char*>("(Ljava/lang/Object;)V"),
                      reinterpret_cast<void*>(&UnparkInPlace)}};
  bool is_registered = false;
  status = CallFromBootClass(jni, [&] {
    is_registered = jni->RegisterNatives(unsafe.get(), natives.data(), natives.size()) == JNI_OK;
    if (!is_registered) jni->ExceptionClear();
  });
  if (!status.ok() || is_registered) return status;
  return absl::FailedPreconditionError("it rejects other natives");
}

}  // namespace

absl::Status ListenToParks(jvmtiEnv* env, JNIEnv* jni, ParkListener& listener) {
  static bool is_replaced = false;
  if (!is_replaced) {
    if (absl::Status status = Replace(env, jni); !status.ok()) return status;
    is_replaced = true;
  }
  g_listener.store(&listener, std::memory_order_release);
  return absl::OkStatus();
}

void StopListeningToParks() { g_listener.store(nullptr, std::memory_order_release); }

}  // namespace jtrace::events
