// What threads have counted, by their present names.
#include <unistd.h>

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "agent/jvmti/implementors.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/metrics/name_text.h"
#include "agent/session/session.h"

namespace jtrace {
namespace {

// Java's exception, out of the way while the agent calls JNI.
class PendingException {
 public:
  explicit PendingException(JNIEnv* jni) : jni_(jni), pending_(jni->ExceptionOccurred()) {
    if (pending_ != nullptr) jni->ExceptionClear();
  }
  ~PendingException() {
    if (pending_ == nullptr) return;
    jni_->Throw(pending_);
    jni_->DeleteLocalRef(pending_);
  }
  PendingException(const PendingException&) = delete;
  PendingException& operator=(const PendingException&) = delete;

 private:
  JNIEnv* jni_;
  jthrowable pending_;
};

std::string PresentName(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info = {};
  if (env->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return "";
  const jvmti::LocalRef<jobject> group(jni, info.thread_group);
  const jvmti::LocalRef<jobject> loader(jni, info.context_class_loader);
  jvmti::Allocated<char> name(env);
  *name.out() = info.name;
  return info.name != nullptr ? metrics::Utf8Of(info.name) : "";
}

}  // namespace

std::optional<metrics::ThreadCounters::Identity> Session::MeetCaller() {
  JNIEnv* jni = nullptr;
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK) {
    const PendingException pending(jni);
    jthread thread = nullptr;
    if (env_->GetCurrentThread(&thread) == JVMTI_ERROR_NONE && thread != nullptr) {
      const jvmti::LocalRef<jthread> reference(jni, thread);
      if (!metrics_->Meet(jni, thread)) return std::nullopt;
    }
  }
  return metrics_->counters().Meet();
}

void Session::MeetThreads(JNIEnv* jni) {
  CountThreads();
  const jvmti::LocalFrame frame(jni);
  jint count = 0;
  jvmti::Allocated<jthread> running(env_);
  if (env_->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) metrics_->Adopt(jni, running[i]);
}

metrics::MetricsReport Session::CollectMetrics(JNIEnv* jni) {
  CountThreads();
  const jvmti::LocalFrame frame(jni);
  absl::flat_hash_map<uint64_t, std::string> names;
  jint count = 0;
  jvmti::Allocated<jthread> running(env_);
  if (env_->GetAllThreads(&count, running.out()) != JVMTI_ERROR_NONE) count = 0;
  const pid_t control = control_tid_.load(std::memory_order_relaxed);
  jthread asking = nullptr;
  if (gettid() == control) env_->GetCurrentThread(&asking);
  for (jint i = 0; i < count; ++i) {
    if (jni->IsSameObject(running[i], asking)) continue;  // it is the agent's
    metrics_->Adopt(jni, running[i]);
    names[threads_.FindRunning(jni, running[i]).numbers.java_tid] =
        PresentName(env_, jni, running[i]);
  }
  return metrics::CollectMetrics(
      metrics_->counters(), [&](const metrics::ThreadValues& thread) -> std::optional<std::string> {
        if (thread.os_tid != 0 && thread.os_tid == control) return std::nullopt;
        const auto found = names.find(thread.java_tid);
        if (found != names.end()) return found->second;
        if (thread.java_tid != 0) return metrics::Utf8Of(threads_.Find(thread.java_tid).name);
        return metrics::KernelName(thread.os_tid);
      });
}

absl::flat_hash_set<std::string> Session::ImplementorsOf(absl::string_view class_name) {
  JNIEnv* jni = nullptr;
  const bool is_java = vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK;
  if (class_name.empty() || !is_java) return {};
  return jvmti::ImplementorsOf(env_, jni, class_name);
}

}  // namespace jtrace
