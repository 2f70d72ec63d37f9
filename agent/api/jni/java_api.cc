#include "agent/api/jni/java_api.h"

#include <array>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"
#include "agent/calls/embedded_classes.h"
#include "agent/calls/probe_class.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "common/visible_text.h"

namespace jtrace::api {
namespace {

constexpr char kNativeMetrics[] = "jtrace/NativeMetrics";

// The native methods are static, so what they use is global. Null before DefineNativeMetrics.
std::atomic<JavaApi*> java_api{nullptr};
std::atomic<jclass> native_class{nullptr};  // a global reference
std::atomic<jmethodID> families{nullptr};

JavaApi& Api() { return *java_api.load(std::memory_order_acquire); }

// Null, with a Java exception pending: there is no memory.
jstring NewText(JNIEnv* jni, absl::string_view text) {
  return jni->NewStringUTF(ToModifiedUtf8(Std(text)).c_str());
}

const char* ExceptionFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return "java/lang/IllegalArgumentException";
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnimplemented:
      return "java/lang/UnsupportedOperationException";
    default:
      return "java/lang/IllegalStateException";
  }
}

void Throw(JNIEnv* jni, const absl::Status& status) {
  if (jclass type = jni->FindClass(ExceptionFor(status)); type != nullptr) {
    jni->ThrowNew(type, ToModifiedUtf8(Std(status.message())).c_str());
  }
}

// Returns the value, or 0 with a Java exception pending if there is none.
template <typename Result, typename Value>
Result ValueOrThrow(JNIEnv* jni, const absl::StatusOr<Value>& value) {
  if (value.ok()) return static_cast<Result>(*value);
  Throw(jni, value.status());
  return 0;
}

std::string Text(JNIEnv* jni, jstring text) {
  if (text == nullptr) return "";
  const char* chars = jni->GetStringUTFChars(text, nullptr);
  if (chars == nullptr) return "";
  std::string copy = chars;
  jni->ReleaseStringUTFChars(text, chars);
  return copy;
}

jstring TextOrThrow(JNIEnv* jni, const absl::StatusOr<std::string>& text) {
  if (text.ok()) return NewText(jni, *text);
  Throw(jni, text.status());
  return nullptr;
}

void StoreOrThrow(JNIEnv* jni, const absl::StatusOr<metrics::MethodTotals>& totals,
                  jlongArray into) {
  if (!totals.ok()) return Throw(jni, totals.status());
  const std::array<jlong, 4> values = {totals->calls, totals->outermost_calls, totals->base,
                                       totals->cum};
  jni->SetLongArrayRegion(into, 0, values.size(), values.data());
}

jobjectArray JNICALL DescribeMetrics(JNIEnv* jni, jclass) {
  const std::vector<std::string> rows = Api().Describe();
  jclass string = jni->FindClass("java/lang/String");
  if (string == nullptr) return nullptr;
  jobjectArray result = jni->NewObjectArray(static_cast<jsize>(rows.size()), string, nullptr);
  for (size_t i = 0; result != nullptr && i < rows.size(); ++i) {
    if (rows[i].empty()) continue;
    jstring row = NewText(jni, rows[i]);
    if (row == nullptr) return nullptr;
    jni->SetObjectArrayElement(result, static_cast<jsize>(i), row);
    jni->DeleteLocalRef(row);
  }
  return result;
}

jlong JNICALL TotalOf(JNIEnv* jni, jclass, jthread thread, jint metric) {
  if (thread == nullptr) {
    Throw(jni, absl::InvalidArgumentError("no thread: use processTotal"));
    return 0;
  }
  return ValueOrThrow<jlong>(jni, Api().TotalOf(jni, thread, static_cast<uint32_t>(metric)));
}

jlong JNICALL ProcessTotal(JNIEnv* jni, jclass, jint metric) {
  return ValueOrThrow<jlong>(jni, Api().ProcessTotal(static_cast<uint32_t>(metric)));
}

jint JNICALL Counter(JNIEnv* jni, jclass, jstring name, jstring unit) {
  return ValueOrThrow<jint>(jni, Api().Counter(Text(jni, name), Text(jni, unit)));
}

void JNICALL Method(JNIEnv* jni, jclass, jboolean all, jlong thread, jint metric, jstring pattern,
                    jlongArray into) {
  std::optional<uint64_t> java_tid;
  if (all == JNI_FALSE) java_tid = static_cast<uint64_t>(thread);
  StoreOrThrow(jni, Api().Method(java_tid, static_cast<uint32_t>(metric), Text(jni, pattern)),
               into);
}

jlong JNICALL Open(JNIEnv* jni, jclass, jint scope, jlong thread) {
  return ValueOrThrow<jlong>(jni, Api().OpenWindow(static_cast<metrics::WindowScope>(scope),
                                                   static_cast<uint64_t>(thread)));
}

void JNICALL WindowMethod(JNIEnv* jni, jclass, jlong window, jint metric, jstring pattern,
                          jlongArray into) {
  StoreOrThrow(jni,
               Api().WindowMethod(static_cast<uint64_t>(window), static_cast<uint32_t>(metric),
                                  Text(jni, pattern)),
               into);
}

jstring JNICALL WindowPaths(JNIEnv* jni, jclass, jlong window, jint metric, jstring below,
                            jstring pattern, jint top) {
  return TextOrThrow(jni,
                     Api().WindowPaths(static_cast<uint64_t>(window), static_cast<uint32_t>(metric),
                                       Text(jni, below), Text(jni, pattern), top));
}

// Returns null if the pattern names a method.
jstring JNICALL NearestMethod(JNIEnv* jni, jclass, jstring pattern) {
  const auto nearest = Api().NearestMethod(Text(jni, pattern));
  if (nearest.ok()) return nearest->has_value() ? NewText(jni, **nearest) : nullptr;
  Throw(jni, nearest.status());
  return nullptr;
}

jlong JNICALL WindowTotal(JNIEnv* jni, jclass, jlong window, jint metric) {
  return ValueOrThrow<jlong>(
      jni, Api().WindowTotal(static_cast<uint64_t>(window), static_cast<uint32_t>(metric)));
}

void JNICALL Close(JNIEnv*, jclass, jlong window) {
  Api().CloseWindow(static_cast<uint64_t>(window));
}

jint JNICALL Labels(JNIEnv* jni, jclass, jint outer, jstring key, jstring value) {
  return static_cast<jint>(
      Api().Labels(static_cast<uint32_t>(outer), Text(jni, key), Text(jni, value)));
}

void JNICALL SetLabels(JNIEnv*, jclass, jint number, jlong virtual_tid) {
  Api().SetLabels(static_cast<uint32_t>(number), static_cast<uint64_t>(virtual_tid));
}

jint JNICALL Segment(JNIEnv* jni, jclass, jstring name) {
  return static_cast<jint>(Api().segments().Number(Text(jni, name)));
}

jlong JNICALL BeginSegment(JNIEnv*, jclass, jint number) {
  return static_cast<jlong>(Api().segments().Begin(static_cast<uint32_t>(number)));
}

void JNICALL EndSegment(JNIEnv*, jclass, jint number, jlong begun, jboolean in_turn) {
  Api().segments().End(static_cast<uint32_t>(number), static_cast<uint64_t>(begun),
                       in_turn == JNI_TRUE);
}

jstring JNICALL Command(JNIEnv* jni, jclass, jstring verb, jstring argument) {
  return TextOrThrow(jni, Api().Command(Text(jni, verb), Text(jni, argument)));
}

template <auto function>
JNINativeMethod Native(const char* name, const char* type) {
  return {const_cast<char*>(name), const_cast<char*>(type),
          reinterpret_cast<void*>(signal_safe::kRunAsAgent<function>)};
}

bool Register(JNIEnv* jni, jclass defined) {
  const std::array methods = {
      Native<DescribeMetrics>("describe", "()[Ljava/lang/String;"),
      Native<TotalOf>("totalOf", "(Ljava/lang/Thread;I)J"),
      Native<ProcessTotal>("processTotal", "(I)J"),
      Native<Counter>("counter", "(Ljava/lang/String;Ljava/lang/String;)I"),
      Native<Method>("method", "(ZJILjava/lang/String;[J)V"),
      Native<Open>("open", "(IJ)J"),
      Native<WindowMethod>("windowMethod", "(JILjava/lang/String;[J)V"),
      Native<WindowPaths>("windowPaths",
                          "(JILjava/lang/String;Ljava/lang/String;I)Ljava/lang/String;"),
      Native<WindowTotal>("windowTotal", "(JI)J"),
      Native<Close>("close", "(J)V"),
      Native<NearestMethod>("nearestMethod", "(Ljava/lang/String;)Ljava/lang/String;"),
      Native<Labels>("labels", "(ILjava/lang/String;Ljava/lang/String;)I"),
      Native<SetLabels>("setLabels", "(IJ)V"),
      Native<Segment>("segment", "(Ljava/lang/String;)I"),
      Native<BeginSegment>("beginSegment", "(I)J"),
      Native<EndSegment>("endSegment", "(IJZ)V"),
      Native<Command>("command", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;")};
  return jni->RegisterNatives(defined, methods.data(), methods.size()) == 0;
}

}  // namespace

absl::Status DefineNativeMetrics(JNIEnv* jni, JavaApi* asked) {
  if (java_api.exchange(asked) != nullptr) return absl::OkStatus();
  const auto bytes = calls::EmbeddedNativeMetrics();
  jclass defined =
      jni->DefineClass(kNativeMetrics, nullptr, reinterpret_cast<const jbyte*>(bytes.data()),
                       static_cast<jsize>(bytes.size()));
  jmethodID inherited = nullptr;
  if (defined != nullptr && Register(jni, defined)) {
    inherited = jni->GetStaticMethodID(defined, "families", "()[J");
  }
  if (inherited == nullptr) {
    jni->ExceptionClear();
    java_api.store(nullptr);  // the next start sets it again
    return absl::FailedPreconditionError("this JVM refuses the class of the metrics");
  }
  native_class.store(static_cast<jclass>(jni->NewGlobalRef(defined)));
  families.store(inherited, std::memory_order_release);
  jni->DeleteLocalRef(defined);
  return absl::OkStatus();
}

std::vector<uint64_t> InheritedWindows(JNIEnv* jni) {
  const jmethodID inherited = families.load(std::memory_order_acquire);
  if (inherited == nullptr) return {};
  auto array = static_cast<jlongArray>(jni->CallStaticObjectMethod(native_class.load(), inherited));
  if (jni->ExceptionCheck() == JNI_TRUE || array == nullptr) {
    jni->ExceptionClear();
    return {};
  }
  std::vector<uint64_t> windows(static_cast<size_t>(jni->GetArrayLength(array)));
  jni->GetLongArrayRegion(array, 0, static_cast<jsize>(windows.size()),
                          reinterpret_cast<jlong*>(windows.data()));
  jni->DeleteLocalRef(array);
  return windows;
}

}  // namespace jtrace::api
