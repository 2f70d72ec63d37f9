#include "agent/recording/counted_threads.h"

#include <unistd.h>

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "agent/jvm/loaded_classes.h"
#include "agent/metrics/kernel_readings.h"
#include "agent/metrics/metrics_report.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/jvmti_events.h"

namespace jtrace {
namespace {

// Sets Java's pending exception aside while the agent calls JNI.
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
  const jvm::LocalRef<jobject> group(jni, info.thread_group);
  const jvm::LocalRef<jobject> loader(jni, info.context_class_loader);
  jvm::Allocated<char> name(env);
  *name.out() = info.name;
  return info.name != nullptr ? metrics::Utf8Of(info.name) : "";
}

}  // namespace

std::optional<metrics::ThreadCounters::Identity> RegisterCallingThread(AgentState& agent) {
  JNIEnv* jni = nullptr;
  if (agent.jvm.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK) {
    const PendingException pending(jni);
    jthread thread = nullptr;
    if (agent.jvm.env->GetCurrentThread(&thread) == JVMTI_ERROR_NONE && thread != nullptr) {
      const jvm::LocalRef<jthread> reference(jni, thread);
      if (!agent.metrics.RegisterThread(jni, thread)) return std::nullopt;
    }
  }
  return agent.metrics.counters().RegisterThread();
}

uint32_t TraceIdOfCallingThread(AgentState& agent) {
  jvm::ThreadRegistry& threads = agent.jvm.registries.threads;
  JNIEnv* jni = nullptr;
  if (agent.jvm.vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) {
    const uint32_t known = threads.NumberOfNative(gettid());
    return known != 0 ? known : threads.DefineNative(gettid(), metrics::KernelName(gettid()));
  }
  const PendingException pending(jni);
  jthread thread = nullptr;
  if (agent.jvm.env->GetCurrentThread(&thread) != JVMTI_ERROR_NONE || thread == nullptr) return 0;
  const jvm::LocalRef<jthread> reference(jni, thread);
  const jvm::TraceThreadIds numbers = threads.FindRunning(jni, thread).numbers;
  if (numbers.number != 0 || !agent.events.sees_virtual_ends.load()) return numbers.number;
  return threads.NumberOfJava(numbers.java_tid);
}

void CountRunningThreads(AgentState& agent, JNIEnv* jni) {
  EnableThreadStarts(agent.jvm.env, agent.events);
  jvm::ForEachThread(agent.jvm.env, jni, [&](jthread thread) { agent.metrics.Adopt(jni, thread); });
}

metrics::MetricsReport CollectMetrics(AgentState& agent, JNIEnv* jni) {
  EnableThreadStarts(agent.jvm.env, agent.events);
  const jvm::LocalFrame frame(jni);
  absl::flat_hash_map<uint64_t, std::string> names;
  const pid_t control = agent.control_thread.load(std::memory_order_relaxed);
  jthread asking = nullptr;
  if (gettid() == control) agent.jvm.env->GetCurrentThread(&asking);
  jvm::ForEachThread(agent.jvm.env, jni, [&](jthread thread) {
    if (jni->IsSameObject(thread, asking)) return;  // it is the agent's
    agent.metrics.Adopt(jni, thread);
    names[agent.jvm.registries.threads.JavaTid(jni, thread)] =
        PresentName(agent.jvm.env, jni, thread);
  });
  return metrics::CollectMetrics(
      agent.metrics.counters(),
      [&](const metrics::ThreadValues& thread) -> std::optional<std::string> {
        if (thread.os_tid != 0 && thread.os_tid == control) return std::nullopt;
        const auto found = names.find(thread.java_tid);
        if (found != names.end()) return found->second;
        if (thread.java_tid != 0) {
          return metrics::Utf8Of(agent.jvm.registries.threads.Find(thread.java_tid).name);
        }
        return metrics::KernelName(thread.os_tid);
      });
}

}  // namespace jtrace
