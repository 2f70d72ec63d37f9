#include "agent/calls/counter_natives.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/calls/embedded_classes.h"
#include "agent/calls/java_layout.h"
#include "agent/calls/probe_class.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {
namespace {

constexpr char kNativeCounters[] = "jtrace/NativeCounters";

// For the native methods, which get no other pointer to it; set once.
std::atomic<ThreadCounterAccess*> counters_of_jvm{nullptr};

ThreadCounterAccess& Counters() { return *counters_of_jvm.load(std::memory_order_acquire); }

jlong JNICALL Block(JNIEnv*, jclass, jlong tid, jboolean is_virtual, jlong java_thread) {
  return reinterpret_cast<jlong>(Counters().CountsOfThread(
      static_cast<uint64_t>(tid), is_virtual != 0, static_cast<uint64_t>(java_thread)));
}

// Makes counts from before the recording count as charged: call paths get only later ones.
void SkipCounted(uint64_t packed, const signal_safe::MetricCounts& block,
                 signal_safe::ThreadMetrics& charged) {
  PathMetrics metrics = {.numbers = {}, .layout = Counters().layout()};
  for (; packed != 0; packed >>= 8) metrics.numbers.push_back((packed & 0xFF) - 1);
  const MetricValues now = Counted(metrics, block);
  std::copy(now.begin(), now.end(), std::begin(charged.charged));
}

jlong JNICALL Begin(JNIEnv*, jclass, jlong tid, jboolean is_virtual, jlong java_thread,
                    jlong metrics, jlong charged) {
  signal_safe::MetricCounts* block = Counters().CountsOfThread(
      static_cast<uint64_t>(tid), is_virtual != 0, static_cast<uint64_t>(java_thread));
  if (block != nullptr && charged != 0 && Counters().RanBeforeRecording(*block)) {
    SkipCounted(static_cast<uint64_t>(metrics), *block,
                *reinterpret_cast<signal_safe::ThreadMetrics*>(charged));
  }
  return reinterpret_cast<jlong>(block);
}

jlong JNICALL Total(JNIEnv* jni, jclass, jint metric) {
  const absl::StatusOr<int64_t> total = Counters().Own(static_cast<uint32_t>(metric));
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
          reinterpret_cast<void*>(signal_safe::kRunAsAgent<function>)};
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

}  // namespace

absl::Status DefineCounters(JNIEnv* jni, ThreadCounterAccess* counters) {
  static bool defined = false;
  if (defined) return absl::OkStatus();
  counters_of_jvm.store(counters, std::memory_order_release);
  if (absl::Status status = DefineNatives(jni); !status.ok()) return status;
  absl::StatusOr<std::vector<uint8_t>> bytes =
      PatchMetricsClass(EmbeddedMetricsClass(), counters->layout());
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

}  // namespace jtrace::calls
