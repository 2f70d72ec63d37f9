#include "agent/calls/probe_natives.h"

#include <time.h>

#include <array>
#include <atomic>
#include <string>

#include "agent/base/clock.h"
#include "agent/calls/clocks/clock_scale.h"
#include "agent/calls/clocks/rseq_clock.h"
#include "agent/calls/embedded_classes.h"
#include "agent/calls/probe_class.h"
#include "agent/signal_safe/doorbell.h"

namespace jtrace::calls {
namespace {

bool Define(JNIEnv* jni, const NativeMethodClass& half, const char* name,
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

constexpr char kNativeClock[] = "jtrace/NativeClock";

jlong JNICALL Ticks(JNIEnv*, jclass) { return static_cast<jlong>(jtrace_ticks()); }

jlong JNICALL CpuNanos(JNIEnv*, jclass) { return static_cast<jlong>(CurrentThreadCpuNanos()); }

jlong JNICALL RseqWord(JNIEnv*, jclass) { return reinterpret_cast<jlong>(CurrentRseqWord()); }

JNINativeMethod Method(const char* name, void* function) {
  return {const_cast<char*>(name), const_cast<char*>("()J"), function};
}

std::atomic<UnwindFunction> take{nullptr};
bool unwind_defined = false;  // under the lock of the code that starts recordings

void JNICALL TakeUnwind(JNIEnv*, jclass, jint routine) {
  take.load(std::memory_order_relaxed)(static_cast<uint32_t>(routine));
}

bool wait_defined = false;  // under the lock of the code that starts recordings

void JNICALL Nap(JNIEnv*, jclass, jint micros) {
  if (micros == 0) return;
  signal_safe::writer_doorbell.Ring();
  const timespec length = {0, micros * 1000L};
  // A signal may end the sleep early: the caller checks for room in any case.
  nanosleep(&length, nullptr);
}

}  // namespace

bool DefineWithNativeClass(JNIEnv* jni, const NativeMethodClass& half, const char* name,
                           absl::Span<const uint8_t> bytes) {
  const bool works = Define(jni, half, name, bytes);
  jni->ExceptionClear();
  return works;
}

absl::Status DefineNativeClock(JNIEnv* jni) {
  if (jclass known = jni->FindClass(kNativeClock); known != nullptr) {
    jni->DeleteLocalRef(known);
    return absl::OkStatus();
  }
  jni->ExceptionClear();
  jclass defined = DefineBootClass(jni, kNativeClock, EmbeddedNativeClock());
  const std::array methods = {Method("ticks", reinterpret_cast<void*>(&Ticks)),
                              Method("cpuNanos", reinterpret_cast<void*>(&CpuNanos)),
                              Method("rseqWord", reinterpret_cast<void*>(&RseqWord))};
  if (defined == nullptr || jni->RegisterNatives(defined, methods.data(), methods.size()) != 0) {
    jni->ExceptionClear();
    return absl::FailedPreconditionError("this JVM rejects the class of the native clocks");
  }
  jni->DeleteLocalRef(defined);
  return absl::OkStatus();
}

absl::Status DefineUnwindProbe(JNIEnv* jni, UnwindFunction function) {
  if (unwind_defined) return absl::OkStatus();
  take.store(function, std::memory_order_relaxed);
  const NativeMethodClass half = {
      "jtrace/NativeUnwind",
      EmbeddedNativeUnwind(),
      {const_cast<char*>("take"), const_cast<char*>("(I)V"), reinterpret_cast<void*>(&TakeUnwind)}};
  if (!DefineWithNativeClass(jni, half, std::string(kUnwindClass).c_str(), EmbeddedUnwindClass())) {
    return absl::FailedPreconditionError("this JVM rejects the probe of unwind=");
  }
  unwind_defined = true;
  return absl::OkStatus();
}

absl::Status DefineLogWait(JNIEnv* jni) {
  if (wait_defined) return absl::OkStatus();
  const NativeMethodClass half = {
      "jtrace/NativeWait",
      EmbeddedNativeWait(),
      {const_cast<char*>("nap"), const_cast<char*>("(I)V"), reinterpret_cast<void*>(&Nap)}};
  if (!DefineWithNativeClass(jni, half, std::string(kWaitClass).c_str(), EmbeddedWaitClass())) {
    return absl::FailedPreconditionError(
        "this JVM rejects the code of overflow=wait: use overflow=gap");
  }
  wait_defined = true;
  return absl::OkStatus();
}

}  // namespace jtrace::calls
