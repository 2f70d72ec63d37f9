#include "agent/events/extra_events.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"
#include "agent/jvm/env.h"
#include "agent/jvm/environment.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

constexpr std::array kEvents = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                                JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
                                JVMTI_EVENT_MONITOR_WAIT,
                                JVMTI_EVENT_MONITOR_WAITED,
                                JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                JVMTI_EVENT_CLASS_PREPARE};

// The wait that a thread is in. A virtual thread may wake up on another carrier: then the monitor
// is different, and the time is unknown.
struct OpenWait {
  uint64_t begin_ns = 0;
  uint64_t java_tid = 0;
  bool recorded = false;
};
thread_local std::array<OpenWait, trace::kLimitedEventCount> t_open;

}  // namespace

bool ExtraEvents::MakeEnvironment() {
  if (env_ != nullptr) return true;
  jvmtiEventCallbacks callbacks = {};
  callbacks.MonitorContendedEnter = jvm::kCallback<&ExtraEvents::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&ExtraEvents::ContendedEntered>;
  callbacks.MonitorWait = jvm::kCallback<&ExtraEvents::Wait>;
  callbacks.MonitorWaited = jvm::kCallback<&ExtraEvents::Waited>;
  callbacks.SampledObjectAlloc = jvm::kCallback<&ExtraEvents::Allocated>;
  callbacks.ClassPrepare = jvm::kCallback<&ExtraEvents::Prepared>;
  env_ = jvm::NewEnvironment(vm_, this, callbacks);
  return env_ != nullptr;
}

void ExtraEvents::Enable(bool wanted, bool offered, absl::string_view what,
                         std::initializer_list<jvmtiEvent> events) {
  if (!wanted) return;
  const bool enabled = offered && jvm::EnableEvents(env_, {events.begin(), events.size()}).ok();
  if (enabled) return;
  losses_.Add(absl::StrCat("events.", what), Severity::kWarning, 1,
              absl::StrCat("kind of event that this JVM does not offer: ", what),
              "load the agent with -agentpath instead of attaching it");
}

void ExtraEvents::Start(const CodeSet& codes) {
  const bool contended = codes.Has(Code::kContended);
  const bool waits = codes.Has(Code::kWait);
  const bool monitors = contended || waits;
  const bool allocations = codes.Has(Code::kAllocation);
  const bool prepared = codes.Has(Code::kClassPrepare);
  limits_.Reset();
  if (!(monitors || allocations || prepared) || !MakeEnvironment()) return;
  jvmtiCapabilities offered = {};
  env_->GetPotentialCapabilities(&offered);
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = monitors && offered.can_generate_monitor_events;
  wanted.can_generate_sampled_object_alloc_events =
      allocations && offered.can_generate_sampled_object_alloc_events;
  env_->AddCapabilities(&wanted);
  env_->GetCapabilities(&granted_);
  const bool has_monitors = granted_.can_generate_monitor_events != 0;
  Enable(contended, has_monitors, "monitors",
         {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED});
  Enable(waits, has_monitors, "monitors", {JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED});
  Enable(allocations, granted_.can_generate_sampled_object_alloc_events != 0, "allocations",
         {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC});
  Enable(prepared, true, "prepared classes", {JVMTI_EVENT_CLASS_PREPARE});
}

void ExtraEvents::Stop() {
  if (env_ == nullptr) return;
  jvm::DisableEvents(env_, kEvents).IgnoreError();
  // Allocation samples cost time as long as the capability is held.
  env_->RelinquishCapabilities(&granted_);
  granted_ = {};
}

void ExtraEvents::Add(JNIEnv* jni, jthread thread, trace::EventRecord event, jclass klass) {
  const jvm::ThreadNumbers numbers = threads_.FindRunning(jni, thread).numbers;
  event.thread = numbers.number != 0 ? numbers.number : threads_.NumberOfJava(numbers.java_tid);
  const std::string name = jvm::ClassName(env_, klass);
  event.text = name;
  encoder_.AddEvent(event);
}

void ExtraEvents::Begin(trace::LimitedEvent event, JNIEnv* jni, jthread thread, jobject object,
                        uint32_t minor, int64_t value) {
  OpenWait& pending = t_open[static_cast<size_t>(event)];
  pending.begin_ns = clock_.Now();
  pending.java_tid = threads_.FindRunning(jni, thread).numbers.java_tid;
  pending.recorded = limits_.Count(event, pending.begin_ns);
  if (!pending.recorded) return;
  jvm::LocalRef<jclass> klass(jni, jni->GetObjectClass(object));
  Add(jni, thread,
      {.time_ns = pending.begin_ns, .major = format::kMonitor, .minor = minor, .value = value},
      klass.get());
}

void ExtraEvents::End(trace::LimitedEvent event, JNIEnv* jni, jthread thread, jobject object,
                      uint32_t minor) {
  const OpenWait pending = std::exchange(t_open[static_cast<size_t>(event)], OpenWait());
  if (pending.begin_ns == 0) return;  // began before the recording
  if (pending.java_tid != threads_.FindRunning(jni, thread).numbers.java_tid) return;
  const uint64_t now = clock_.Now();
  limits_.Ended(event, now - pending.begin_ns);
  if (!pending.recorded) return;
  jvm::LocalRef<jclass> klass(jni, jni->GetObjectClass(object));
  Add(jni, thread,
      {.time_ns = now,
       .major = format::kMonitor,
       .minor = minor | format::kEnd,
       .value = static_cast<int64_t>(now - pending.begin_ns)},
      klass.get());
}

void ExtraEvents::ContendedEnter(JNIEnv* jni, jthread thread, jobject object) {
  Begin(trace::LimitedEvent::kContended, jni, thread, object, format::kMonitorContended, 0);
}

void ExtraEvents::ContendedEntered(JNIEnv* jni, jthread thread, jobject object) {
  End(trace::LimitedEvent::kContended, jni, thread, object, format::kMonitorContended);
}

void ExtraEvents::Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms) {
  Begin(trace::LimitedEvent::kWait, jni, thread, object, format::kMonitorWait, timeout_ms);
}

void ExtraEvents::Waited(JNIEnv* jni, jthread thread, jobject object, jboolean) {
  End(trace::LimitedEvent::kWait, jni, thread, object, format::kMonitorWait);
}

void ExtraEvents::Allocated(JNIEnv* jni, jthread thread, jobject, jclass klass, jlong size) {
  const uint64_t now = clock_.Now();
  if (!limits_.Count(trace::LimitedEvent::kAllocation, now)) return;
  Add(jni, thread,
      {.time_ns = now,
       .major = format::kAllocation,
       .minor = format::kAllocationSample,
       .value = size},
      klass);
}

void ExtraEvents::Prepared(JNIEnv* jni, jthread thread, jclass klass) {
  const uint64_t now = clock_.Now();
  if (!limits_.Count(trace::LimitedEvent::kPrepare, now)) return;
  Add(jni, thread, {.time_ns = now, .major = format::kClass, .minor = format::kClassPrepare},
      klass);
}

}  // namespace jtrace::events
