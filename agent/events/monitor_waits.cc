#include "agent/events/monitor_waits.h"

#include <utility>

#include "agent/jvm/jvmti_calls.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

// The wait that began on a native thread. A virtual thread may end it on another carrier: then it
// has no record.
struct Pending {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC; 0: no wait
  uint64_t java_tid = 0;
  bool recorded = false;
  proto::WaitEvent::Cause cause = proto::WaitEvent::UNKNOWN;
  uint32_t by_thread = 0;
};
constinit thread_local Pending t_enters;
constinit thread_local Pending t_waits;

// Whether the wait began in this recording, which started at `start_ns`, and in the same thread.
bool IsOfThisRecording(const Pending& pending, uint64_t start_ns, uint64_t java_tid) {
  return pending.begin_ns != 0 && pending.begin_ns >= start_ns && pending.java_tid == java_tid;
}

jvmtiEventCallbacks WaitCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.MonitorContendedEnter = jvm::kCallback<&MonitorWaits::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&MonitorWaits::ContendedEntered>;
  callbacks.MonitorWait = jvm::kCallback<&MonitorWaits::Wait>;
  callbacks.MonitorWaited = jvm::kCallback<&MonitorWaits::Waited>;
  return callbacks;
}

}  // namespace

MonitorWaits::MonitorWaits(const EventContext& context)
    : JvmtiEventRecorder(context, this, WaitCallbacks()), writer_(context) {}

absl::Span<const Code> MonitorWaits::codes() const {
  static constexpr Code kCodes[] = {Code::kOwner, Code::kJoin};
  return kCodes;
}

bool MonitorWaits::OpenForEvents(bool owners) {
  JNIEnv* jni = nullptr;
  if (context().vm->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) return false;
  if (thread_class_ == nullptr) {
    const jvm::LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
    thread_class_ = static_cast<jclass>(jni->NewGlobalRef(klass.get()));
  }
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = 1;
  wanted.can_get_monitor_info = owners ? 1 : 0;
  const jvmtiCapabilities granted = Open(wanted);
  return granted.can_generate_monitor_events != 0 && (!owners || granted.can_get_monitor_info != 0);
}

void MonitorWaits::Start(const EventCodeSet& codes) {
  const bool owners = codes.Has(Code::kOwner);
  const bool is_offered = OpenForEvents(owners);
  if (owners) {
    Enable(is_offered, "owners", "owners of monitors",
           {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED});
  }
  if (codes.Has(Code::kJoin)) {
    Enable(is_offered, "joins", "ends of waits",
           {JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED});
  }
}

// Returns the monitor's present owner. The JVM stops all threads for a moment to find it.
proto::WaitEvent MonitorWaits::OwnerOf(JNIEnv* jni, jobject object) {
  const jvm::LocalFrame frame(jni);
  jvmtiMonitorUsage usage = {};
  if (env()->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE) {
    return MakeWaitEvent(proto::WaitEvent::UNKNOWN);
  }
  jvm::Allocated<jthread> waiters(env());
  jvm::Allocated<jthread> notify_waiters(env());
  *waiters.out() = usage.waiters;
  *notify_waiters.out() = usage.notify_waiters;
  if (usage.owner == nullptr) return MakeWaitEvent(proto::WaitEvent::UNOWNED);
  return MakeWaitEvent(proto::WaitEvent::OWNED, context().NumberOf(jni, usage.owner));
}

void MonitorWaits::ContendedEnter(JNIEnv* jni, jthread thread, jobject object) {
  Pending& pending = t_enters;
  pending = {.begin_ns = MonotonicNanos(), .java_tid = context().threads.JavaTid(jni, thread)};
  pending.recorded = context().limits.Count(Code::kOwner, context().clock.Since(pending.begin_ns));
  if (!pending.recorded) return;
  const proto::WaitEvent wait = OwnerOf(jni, object);
  pending.cause = wait.cause();
  pending.by_thread = wait.by_thread();
}

void MonitorWaits::ContendedEntered(JNIEnv* jni, jthread thread, jobject object) {
  const Pending pending = std::exchange(t_enters, Pending());
  const uint64_t now = MonotonicNanos();
  if (!IsOfThisRecording(pending, context().clock.start(), context().threads.JavaTid(jni, thread)))
    return;
  context().limits.Ended(Code::kOwner, now - pending.begin_ns);
  if (!pending.recorded) return;
  writer_.Add(env(), jni, thread,
              {format::kWaitedMonitor, context().clock.Since(pending.begin_ns),
               context().clock.Since(now), object},
              MakeWaitEvent(pending.cause, pending.by_thread));
}

void MonitorWaits::Wait(JNIEnv* jni, jthread thread, jobject, jlong) {
  Pending& pending = t_waits;
  pending = {.begin_ns = MonotonicNanos(), .java_tid = context().threads.JavaTid(jni, thread)};
  pending.recorded = context().limits.Count(Code::kJoin, context().clock.Since(pending.begin_ns));
}

// Returns how Object.wait ended. A thread that ends notifies those that wait on its object.
proto::WaitEvent MonitorWaits::EndOf(JNIEnv* jni, jobject object, bool timed_out) {
  if (timed_out) return MakeWaitEvent(proto::WaitEvent::TIMED_OUT);
  if (jni->IsInstanceOf(object, thread_class_) == JNI_TRUE &&
      ThreadHasState(env(), object, JVMTI_THREAD_STATE_TERMINATED)) {
    jvm::ThreadRegistry& threads = context().threads;
    return MakeWaitEvent(proto::WaitEvent::ENDED,
                         threads.Find(threads.JavaTid(jni, object)).number);
  }
  if (ThreadHasState(env(), nullptr, JVMTI_THREAD_STATE_INTERRUPTED)) {
    return MakeWaitEvent(proto::WaitEvent::INTERRUPTED);
  }
  return MakeWaitEvent(proto::WaitEvent::NOTIFIED);
}

void MonitorWaits::Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out) {
  const Pending pending = std::exchange(t_waits, Pending());
  const uint64_t now = MonotonicNanos();
  if (!IsOfThisRecording(pending, context().clock.start(), context().threads.JavaTid(jni, thread)))
    return;
  context().limits.Ended(Code::kJoin, now - pending.begin_ns);
  if (!pending.recorded) return;
  writer_.Add(env(), jni, thread,
              {format::kWaitedObject, context().clock.Since(pending.begin_ns),
               context().clock.Since(now), object},
              EndOf(jni, object, timed_out == JNI_TRUE));
}

}  // namespace jtrace::events
