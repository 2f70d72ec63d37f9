#include "agent/metrics/jvm_event_counter.h"

#include <stdarg.h>

#include "agent/base/clock.h"
#include "agent/calls/classfile/probe_bytecode.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::metrics {
namespace {

// When the calling thread began to wait for a monitor; 0: it does not wait.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t tls_wait_began = 0;

void JNICALL OnException(jvmtiEnv* env, JNIEnv*, jthread, jmethodID method, jlocation bci, jobject,
                         jmethodID, jlocation) {
  // The callback itself is one level of own work. A second one: the agent called what has thrown.
  if (signal_safe::tls_agent_work_depth > 1) return;
  jvm::OwnerOf<JvmEventCounter>(env)->Thrown(method, bci);
}

jvmtiEventCallbacks EventCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.Exception = signal_safe::kRunAsAgent<OnException>;
  callbacks.MonitorContendedEnter = jvm::kCallback<&JvmEventCounter::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&JvmEventCounter::ContendedEntered>;
  return callbacks;
}

// HotSpot's extension events take (jvmtiEnv*, JNIEnv*, jthread).
void JNICALL OnMount(jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  JNIEnv* jni = va_arg(arguments, JNIEnv*);
  jthread thread = va_arg(arguments, jthread);
  va_end(arguments);
  signal_safe::RunAsAgent([&] { jvm::OwnerOf<JvmEventCounter>(env)->Mounted(jni, thread); });
}
void JNICALL OnUnmount(jvmtiEnv* env, ...) {
  signal_safe::RunAsAgent([&] { jvm::OwnerOf<JvmEventCounter>(env)->Unmounted(); });
}

}  // namespace

JvmEventCounter::JvmEventCounter(JavaVM* vm, events::IoCalls& io, ThreadCounters& counters)
    : io_(io), counters_(counters), env_(vm, this, EventCallbacks()) {}

uint64_t JvmEventCounter::StartIo(uint64_t wanted) {
  constexpr uint64_t kAll =
      Bit(Metric::kJavaReadBytes) | Bit(Metric::kJavaWrittenBytes) | Bit(Metric::kJavaIo);
  if ((wanted & kAll) == 0 || !io_.Listen(events::IoListenerUse::kCounts, *this).ok()) return 0;
  return wanted & kAll;
}

uint64_t JvmEventCounter::Start(uint64_t wanted) { return StartIo(wanted) | StartEvents(wanted); }

void JvmEventCounter::Prepare(uint64_t wanted) {
  if ((wanted & Bit(Metric::kExceptions)) == 0 || env_.Open() == nullptr) return;
  jvmtiCapabilities asked = {};
  asked.can_generate_exception_events = 1;
  env_.AddCapabilities(asked);
}

uint64_t JvmEventCounter::StartEvents(uint64_t wanted) {
  constexpr uint64_t kAll = Bit(Metric::kExceptions) | Bit(Metric::kMonitorWait);
  if ((wanted & kAll) == 0 || env_.Open() == nullptr) return 0;
  jvmtiCapabilities asked = {};
  asked.can_generate_exception_events = (wanted & Bit(Metric::kExceptions)) != 0;
  asked.can_get_bytecodes = asked.can_generate_exception_events;
  asked.can_generate_monitor_events = (wanted & Bit(Metric::kMonitorWait)) != 0;
  const jvmtiCapabilities held = env_.AddCapabilities(asked);
  uint64_t counted = 0;
  if (held.can_generate_exception_events && env_.Enable({JVMTI_EVENT_EXCEPTION}).ok()) {
    counted |= Bit(Metric::kExceptions);
  }
  if (held.can_generate_monitor_events &&
      env_.Enable({JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED})
          .ok()) {
    counted |= Bit(Metric::kMonitorWait);
  }
  return counted & wanted;
}

// Does not end what FollowVirtualThreads began.
void JvmEventCounter::Stop() {
  io_.Ignore(events::IoListenerUse::kCounts);
  env_.Stop();
}

// ---- Virtual threads ------------------------------------------------------------------------

bool JvmEventCounter::FollowVirtualThreads() {
  if (follows_.load(std::memory_order_acquire)) return true;
  const absl::MutexLock lock(&follow_mutex_);
  if (follows_.load(std::memory_order_relaxed)) return true;
  if (env_.Open() == nullptr || !env_.AddVirtualThreads()) return false;
  const bool follows =
      env_.EnableExtension("com.sun.hotspot.events.VirtualThreadUnmount", OnUnmount) &&
      env_.EnableExtension("com.sun.hotspot.events.VirtualThreadMount", OnMount);
  follows_.store(follows, std::memory_order_release);
  return follows;
}

void JvmEventCounter::Mounted(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = fields_.JavaTid(jni, thread);
  if (java_tid != 0) counters_.Mount(java_tid);
}

void JvmEventCounter::Unmounted() { counters_.Unmount(); }

// ---- Events ---------------------------------------------------------------------------------

// A probe that an exception passes throws it again, and the JVM reports that as well.
void JvmEventCounter::Thrown(jmethodID method, jlocation bci) {
  jint size = 0;
  jvmtiEnv* const env = env_.get();
  jvm::Allocated<unsigned char> code(env);
  const bool is_known = env->GetBytecodes(method, &size, code.out()) == JVMTI_ERROR_NONE;
  if (is_known && classfile::IsProbeRethrow({code.get(), static_cast<size_t>(size)},
                                            static_cast<uint64_t>(bci))) {
    return;
  }
  counters_.Add(static_cast<uint32_t>(Metric::kExceptions), 1);
}

void JvmEventCounter::ContendedEnter(JNIEnv*, jthread, jobject) {
  tls_wait_began = MonotonicNanos();
}

// A virtual thread may have changed its carrier meanwhile: then the start of the wait is unknown.
void JvmEventCounter::ContendedEntered(JNIEnv*, jthread, jobject) {
  if (tls_wait_began == 0) return;
  counters_.Add(static_cast<uint32_t>(Metric::kMonitorWait),
                static_cast<int64_t>(MonotonicNanos() - tls_wait_began));
  tls_wait_began = 0;
}

void JvmEventCounter::Ended(JNIEnv*, const events::IoCall& call) {
  counters_.Add(static_cast<uint32_t>(Metric::kJavaIo),
                static_cast<int64_t>(call.end_ns - call.begin_ns));
  if (call.bytes <= 0) return;
  const Metric metric =
      call.kind == events::IoKind::kRead ? Metric::kJavaReadBytes : Metric::kJavaWrittenBytes;
  counters_.Add(static_cast<uint32_t>(metric), call.bytes);
}

}  // namespace jtrace::metrics
