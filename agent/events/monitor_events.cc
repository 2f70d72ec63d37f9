#include "agent/events/monitor_events.h"

#include <utility>

#include "agent/jvm/jvmti_calls.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// The wait that began on a native thread. A virtual thread may end it on another carrier: then it
// has no record of the end, because the time of its begin is unknown there.
struct OpenWait {
  uint64_t begin_ns = 0;            // of the recording; 0: no wait
  uint64_t recording_start_ns = 0;  // RecordingClock::start when it began
  uint64_t java_tid = 0;
  bool is_recorded = false;
};
thread_local OpenWait t_contended;
thread_local OpenWait t_wait;

jvmtiEventCallbacks MonitorCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.MonitorContendedEnter = jvm::kCallback<&MonitorEvents::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&MonitorEvents::ContendedEntered>;
  callbacks.MonitorWait = jvm::kCallback<&MonitorEvents::Wait>;
  callbacks.MonitorWaited = jvm::kCallback<&MonitorEvents::Waited>;
  return callbacks;
}

OpenWait& OpenOf(Code code) { return code == Code::kContended ? t_contended : t_wait; }

}  // namespace

MonitorEvents::MonitorEvents(const EventContext& context)
    : JvmtiEventRecorder(context, this, MonitorCallbacks()) {}

absl::Span<const Code> MonitorEvents::codes() const {
  static constexpr Code kCodes[] = {Code::kContended, Code::kWait};
  return kCodes;
}

void MonitorEvents::Start(const EventCodeSet& codes) {
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = 1;
  const bool is_offered = Open(wanted).can_generate_monitor_events != 0;
  if (codes.Has(Code::kContended)) {
    Enable(is_offered, "monitors", "monitors",
           {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED});
  }
  if (codes.Has(Code::kWait)) {
    Enable(is_offered, "monitors", "monitors",
           {JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED});
  }
}

void MonitorEvents::Begin(Code code, JNIEnv* jni, jthread thread, jobject object, int64_t value) {
  OpenWait& open = OpenOf(code);
  open.recording_start_ns = context().clock.start();
  open.begin_ns = context().clock.Now();
  open.java_tid = context().threads.FindRunning(jni, thread).numbers.java_tid;
  open.is_recorded = context().limits.Count(code, open.begin_ns);
  if (!open.is_recorded) return;
  const jvm::LocalRef<jclass> klass(jni, jni->GetObjectClass(object));
  Add(code, {.time_ns = open.begin_ns, .value = value}, jni, thread, klass.get());
}

void MonitorEvents::End(Code code, JNIEnv* jni, jthread thread, jobject object) {
  const OpenWait open = std::exchange(OpenOf(code), OpenWait());
  if (open.begin_ns == 0 || open.recording_start_ns != context().clock.start()) return;
  if (open.java_tid != context().threads.FindRunning(jni, thread).numbers.java_tid) return;
  const uint64_t now = context().clock.Now();
  context().limits.Ended(code, now - open.begin_ns);
  if (!open.is_recorded) return;
  const jvm::LocalRef<jclass> klass(jni, jni->GetObjectClass(object));
  Add(code,
      {.time_ns = now, .minor = format::kEnd, .value = static_cast<int64_t>(now - open.begin_ns)},
      jni, thread, klass.get());
}

void MonitorEvents::ContendedEnter(JNIEnv* jni, jthread thread, jobject object) {
  Begin(Code::kContended, jni, thread, object, 0);
}

void MonitorEvents::ContendedEntered(JNIEnv* jni, jthread thread, jobject object) {
  End(Code::kContended, jni, thread, object);
}

void MonitorEvents::Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms) {
  Begin(Code::kWait, jni, thread, object, timeout_ms);
}

void MonitorEvents::Waited(JNIEnv* jni, jthread thread, jobject object, jboolean) {
  End(Code::kWait, jni, thread, object);
}

}  // namespace jtrace::events
