#include "agent/metrics/event_sources.h"

#include <stdarg.h>

#include <array>
#include <string_view>

#include "agent/base/clock.h"
#include "agent/classfile/probe_code.h"
#include "agent/hot/own_work.h"
#include "agent/jvmti/env.h"

namespace jtrace::metrics {
namespace {

constexpr std::array kEvents = {JVMTI_EVENT_EXCEPTION, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                                JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};

// When the calling thread began to wait for a monitor; 0: it does not wait.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint64_t tls_wait_began = 0;

void JNICALL OnException(jvmtiEnv* env, JNIEnv*, jthread, jmethodID method, jlocation bci, jobject,
                         jmethodID, jlocation) {
  // The JDK's code that the agent calls throws some, too: then this is not its only work.
  if (hot::tls_own_work > 1) return;
  jvmti::OwnerOf<EventSources>(env)->Thrown(method, bci);
}
void JNICALL OnContendedEnter(jvmtiEnv* env, JNIEnv*, jthread, jobject) {
  jvmti::OwnerOf<EventSources>(env)->ContendedEnter();
}
void JNICALL OnContendedEntered(jvmtiEnv* env, JNIEnv*, jthread, jobject) {
  jvmti::OwnerOf<EventSources>(env)->ContendedEntered();
}

// HotSpot's extension events take (jvmtiEnv*, JNIEnv*, jthread).
void JNICALL OnMount(jvmtiEnv* env, ...) {
  va_list arguments;
  va_start(arguments, env);
  JNIEnv* jni = va_arg(arguments, JNIEnv*);
  jthread thread = va_arg(arguments, jthread);
  va_end(arguments);
  hot::AsOwn([&] { jvmti::OwnerOf<EventSources>(env)->Mounted(jni, thread); });
}
void JNICALL OnUnmount(jvmtiEnv* env, ...) {
  hot::AsOwn([&] { jvmti::OwnerOf<EventSources>(env)->Unmounted(); });
}

void Free(jvmtiEnv* env, void* memory) { env->Deallocate(static_cast<unsigned char*>(memory)); }

}  // namespace

bool EventSources::MakeEnvironment() {
  if (env_ != nullptr) return true;
  jvmtiEventCallbacks callbacks = {};
  callbacks.Exception = hot::kAsOwn<OnException>;
  callbacks.MonitorContendedEnter = hot::kAsOwn<OnContendedEnter>;
  callbacks.MonitorContendedEntered = hot::kAsOwn<OnContendedEntered>;
  env_ = jvmti::NewEnvironment(vm_, this, callbacks);
  return env_ != nullptr;
}

bool EventSources::Enable(std::initializer_list<jvmtiEvent> events) {
  return jvmti::EnableEvents(env_, {events.begin(), events.size()}).ok();
}

uint64_t EventSources::StartIo(uint64_t wanted) {
  constexpr uint64_t kAll =
      Bit(Metric::kJavaReadBytes) | Bit(Metric::kJavaWrittenBytes) | Bit(Metric::kJavaIo);
  if ((wanted & kAll) == 0 || !io_.Listen(events::IoUse::kCounts, *this).ok()) return 0;
  return wanted & kAll;
}

uint64_t EventSources::Start(uint64_t wanted) { return StartIo(wanted) | StartEvents(wanted); }

void EventSources::Prepare(uint64_t wanted) {
  if ((wanted & Bit(Metric::kExceptions)) == 0 || !MakeEnvironment()) return;
  jvmtiCapabilities asked = {};
  asked.can_generate_exception_events = 1;
  env_->AddCapabilities(&asked);
}

uint64_t EventSources::StartEvents(uint64_t wanted) {
  constexpr uint64_t kAll = Bit(Metric::kExceptions) | Bit(Metric::kMonitorWait);
  if ((wanted & kAll) == 0 || !MakeEnvironment()) return 0;
  jvmtiCapabilities offered = {};
  env_->GetPotentialCapabilities(&offered);
  jvmtiCapabilities asked = {};
  const auto asks = [&](Metric metric, unsigned offers) {
    return (wanted & Bit(metric)) != 0 && offers != 0;
  };
  asked.can_generate_exception_events =
      asks(Metric::kExceptions, offered.can_generate_exception_events);
  asked.can_get_bytecodes = asked.can_generate_exception_events;
  asked.can_generate_monitor_events =
      asks(Metric::kMonitorWait, offered.can_generate_monitor_events);
  env_->AddCapabilities(&asked);
  env_->GetCapabilities(&granted_);
  uint64_t counted = 0;
  if (granted_.can_generate_exception_events && Enable({JVMTI_EVENT_EXCEPTION})) {
    counted |= Bit(Metric::kExceptions);
  }
  if (granted_.can_generate_monitor_events &&
      Enable({JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED})) {
    counted |= Bit(Metric::kMonitorWait);
  }
  return counted & wanted;
}

void EventSources::Stop() {
  io_.Ignore(events::IoUse::kCounts);
  if (env_ == nullptr) return;
  jvmti::DisableEvents(env_, kEvents).IgnoreError();
  // Virtual threads are still followed.
  jvmtiCapabilities relinquished = {};
  relinquished.can_generate_exception_events = granted_.can_generate_exception_events;
  relinquished.can_generate_monitor_events = granted_.can_generate_monitor_events;
  env_->RelinquishCapabilities(&relinquished);
  granted_ = {};
}

// ---- Virtual threads ------------------------------------------------------------------------

bool EventSources::SetExtensionEvent(const char* id, jvmtiExtensionEvent callback) {
  jint count = 0;
  jvmtiExtensionEventInfo* infos = nullptr;
  if (env_->GetExtensionEvents(&count, &infos) != JVMTI_ERROR_NONE) return false;
  bool is_set = false;
  for (jint i = 0; i < count; ++i) {
    if (std::string_view(infos[i].id) == id) {
      const auto event = static_cast<jvmtiEvent>(infos[i].extension_event_index);
      // HotSpot wants both, although JVMTI says that the callback alone enables the event.
      is_set = env_->SetExtensionEventCallback(event, callback) == JVMTI_ERROR_NONE &&
               env_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
    }
    for (jint p = 0; p < infos[i].param_count; ++p) Free(env_, infos[i].params[p].name);
    Free(env_, infos[i].params);
    Free(env_, infos[i].id);
    Free(env_, infos[i].short_description);
  }
  Free(env_, infos);
  return is_set;
}

bool EventSources::FollowVirtualThreads() {
  if (follows_) return true;
  if (!MakeEnvironment()) return false;
  if (!jvmti::AddCapabilities(env_, {}, /*virtual_threads=*/true)
           .value_or(jvmti::Granted())
           .virtual_threads) {
    return false;
  }
  follows_ = SetExtensionEvent("com.sun.hotspot.events.VirtualThreadUnmount", OnUnmount) &&
             SetExtensionEvent("com.sun.hotspot.events.VirtualThreadMount", OnMount);
  return follows_;
}

void EventSources::Mounted(JNIEnv* jni, jthread thread) {
  const uint64_t java_tid = fields_.JavaTid(jni, thread);
  if (java_tid != 0) counters_.Mount(java_tid);
}

void EventSources::Unmounted() { counters_.Unmount(); }

// ---- Events ---------------------------------------------------------------------------------

// A probe that an exception passes throws it again, and the JVM reports that as well.
void EventSources::Thrown(jmethodID method, jlocation bci) {
  jint size = 0;
  jvmti::Allocated<unsigned char> code(env_);
  const bool is_known = env_->GetBytecodes(method, &size, code.out()) == JVMTI_ERROR_NONE;
  if (is_known && classfile::IsOwnRethrow({code.get(), static_cast<size_t>(size)},
                                          static_cast<uint64_t>(bci))) {
    return;
  }
  counters_.Add(static_cast<uint32_t>(Metric::kExceptions), 1);
}

void EventSources::ContendedEnter() { tls_wait_began = MonotonicNanos(); }

// A virtual thread may have changed its carrier meanwhile: then the start of the wait is unknown.
void EventSources::ContendedEntered() {
  if (tls_wait_began == 0) return;
  counters_.Add(static_cast<uint32_t>(Metric::kMonitorWait),
                static_cast<int64_t>(MonotonicNanos() - tls_wait_began));
  tls_wait_began = 0;
}

void EventSources::Ended(JNIEnv*, const events::IoCall& call) {
  counters_.Add(static_cast<uint32_t>(Metric::kJavaIo),
                static_cast<int64_t>(call.end_ns - call.begin_ns));
  if (call.bytes <= 0) return;
  const Metric metric =
      call.kind == events::IoKind::kRead ? Metric::kJavaReadBytes : Metric::kJavaWrittenBytes;
  counters_.Add(static_cast<uint32_t>(metric), call.bytes);
}

}  // namespace jtrace::metrics
