#include "agent/calls/native_methods.h"

#include <array>
#include <atomic>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/calls/bridge.h"
#include "agent/calls/path_metrics.h"
#include "agent/calls/probe_class.h"
#include "agent/calls/ticks.h"
#include "agent/signal_safe/doorbell.h"
#include "agent/signal_safe/own_work.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {
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

constexpr char kNativeClock[] = "jtrace/NativeClock";

jlong JNICALL Ticks(JNIEnv*, jclass) { return static_cast<jlong>(jtrace_ticks()); }

jlong JNICALL CpuNanos(JNIEnv*, jclass) { return static_cast<jlong>(OwnCpuNanos()); }

jlong JNICALL RseqWord(JNIEnv*, jclass) { return reinterpret_cast<jlong>(CurrentRseqWord()); }

JNINativeMethod Method(const char* name, void* function) {
  return {const_cast<char*>(name), const_cast<char*>("()J"), function};
}

constexpr char kNativeCounters[] = "jtrace/NativeCounters";

// Reached by Java's native methods; set once.
std::atomic<CounterKeeper*> keeper_of_jvm{nullptr};

CounterKeeper& Keeper() { return *keeper_of_jvm.load(std::memory_order_acquire); }

jlong JNICALL Block(JNIEnv*, jclass, jlong tid, jboolean is_virtual, jlong java_thread) {
  return reinterpret_cast<jlong>(Keeper().BlockOf(static_cast<uint64_t>(tid), is_virtual != 0,
                                                  static_cast<uint64_t>(java_thread)));
}

// For a thread that ran before, only later counts are charged to call paths.
void SkipCounted(uint64_t packed, const signal_safe::CounterBlock& block,
                 signal_safe::ThreadMetrics& charged) {
  PathMetrics metrics = {.numbers = {}, .layout = Keeper().layout()};
  for (; packed != 0; packed >>= 8) metrics.numbers.push_back((packed & 0xFF) - 1);
  const MetricValues now = Counted(metrics, block);
  std::copy(now.begin(), now.end(), std::begin(charged.charged));
}

jlong JNICALL Begin(JNIEnv*, jclass, jlong tid, jboolean is_virtual, jlong java_thread,
                    jlong metrics, jlong charged) {
  signal_safe::CounterBlock* block = Keeper().BlockOf(static_cast<uint64_t>(tid), is_virtual != 0,
                                                      static_cast<uint64_t>(java_thread));
  if (block != nullptr && charged != 0 && Keeper().RanBefore(*block)) {
    SkipCounted(static_cast<uint64_t>(metrics), *block,
                *reinterpret_cast<signal_safe::ThreadMetrics*>(charged));
  }
  return reinterpret_cast<jlong>(block);
}

jlong JNICALL Total(JNIEnv* jni, jclass, jint metric) {
  const absl::StatusOr<int64_t> total = Keeper().Own(static_cast<uint32_t>(metric));
  if (total.ok()) return *total;
  const bool is_unknowable = total.status().code() == absl::StatusCode::kUnavailable;
  jclass error = jni->FindClass(is_unknowable ? "java/lang/UnsupportedOperationException"
                                              : "java/lang/IllegalStateException");
  if (error != nullptr) jni->ThrowNew(error, std::string(total.status().message()).c_str());
  return 0;
}

template <auto function>
JNINativeMethod Method(const char* name, const char* signature) {
  return {const_cast<char*>(name), const_cast<char*>(signature),
          reinterpret_cast<void*>(signal_safe::kAsOwn<function>)};
}

absl::Status Refused(JNIEnv* jni, absl::string_view what) {
  jni->ExceptionClear();
  return absl::FailedPreconditionError(
      absl::StrCat("this JVM rejects the class of thread counters: ", what));
}

absl::Status DefineNatives(JNIEnv* jni) {
  jclass defined = DefineBootClass(jni, kNativeCounters, EmbeddedNativeCounters());
  const std::array methods = {Method<Block>("block", "(JZJ)J"), Method<Begin>("begin", "(JZJJJ)J"),
                              Method<Total>("total", "(I)J")};
  if (defined == nullptr || jni->RegisterNatives(defined, methods.data(), methods.size()) != 0) {
    return Refused(jni, kNativeCounters);
  }
  jni->DeleteLocalRef(defined);
  return absl::OkStatus();
}

std::atomic<UnwindFunction> take{nullptr};
bool unwind_defined = false;  // under the lock of the code that starts recordings

void JNICALL Take(JNIEnv*, jclass, jint routine) {
  take.load(std::memory_order_relaxed)(static_cast<uint32_t>(routine));
}

bool wait_defined = false;  // under the lock of the code that starts recordings

void JNICALL Nap(JNIEnv*, jclass, jint micros) {
  if (micros == 0) return;
  signal_safe::writer_doorbell.Ring();
  const timespec length = {0, micros * 1000L};
  // A signal may end it early: the caller looks whether there is room in any case.
  nanosleep(&length, nullptr);
}

}  // namespace

bool DefineWithNativeHalf(JNIEnv* jni, const NativeHalf& half, const char* name,
                          absl::Span<const uint8_t> bytes) {
  const bool works = Define(jni, half, name, bytes);
  jni->ExceptionClear();
  return works;
}

bool TicksAreSteady() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return std::getline(file, source) && source == kSteadyClockSource;
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

absl::Status DefineCounters(JNIEnv* jni, CounterKeeper* keeper) {
  static bool defined = false;
  if (defined) return absl::OkStatus();
  keeper_of_jvm.store(keeper, std::memory_order_release);
  if (absl::Status status = DefineNatives(jni); !status.ok()) return status;
  absl::StatusOr<std::vector<uint8_t>> bytes =
      PatchMetricsClass(EmbeddedMetricsClass(), keeper->layout());
  if (!bytes.ok()) return bytes.status();
  jclass metrics = DefineBootClass(jni, std::string(kMetricsClass).c_str(), *bytes);
  if (metrics == nullptr) return Refused(jni, kMetricsClass);
  jni->DeleteLocalRef(metrics);
  defined = true;
  return absl::OkStatus();
}

absl::Status InitializeCounters(JNIEnv* jni) {
  jclass metrics = jni->FindClass(std::string(kMetricsClass).c_str());
  if (metrics == nullptr) return Refused(jni, kMetricsClass);
  absl::Status status = CheckJavaLayout(jni, metrics, MetricsConstantsInJava());
  jni->DeleteLocalRef(metrics);
  return status;
}

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

absl::Status DefineLogWait(JNIEnv* jni) {
  if (wait_defined) return absl::OkStatus();
  const NativeHalf half = {
      "jtrace/NativeWait",
      EmbeddedNativeWait(),
      {const_cast<char*>("nap"), const_cast<char*>("(I)V"), reinterpret_cast<void*>(&Nap)}};
  if (!DefineWithNativeHalf(jni, half, std::string(kWaitClass).c_str(), EmbeddedWaitClass())) {
    return absl::FailedPreconditionError(
        "this JVM rejects the code of overflow=wait: use overflow=gap");
  }
  wait_defined = true;
  return absl::OkStatus();
}

}  // namespace jtrace::calls
