#include "agent/events/monitor_waits.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/jvm/env.h"
#include "agent/jvm/environment.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

constexpr std::array kOwnerEvents = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                                     JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};
constexpr std::array kJoinEvents = {JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED};

// The wait that a thread is in. A virtual thread may end it on another carrier: then it has no
// record.
struct Pending {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC; 0: in none
  uint64_t java_tid = 0;
  bool recorded = false;
  proto::WaitEvent::Cause cause = proto::WaitEvent::UNKNOWN;
  uint32_t by_thread = 0;
};
constinit thread_local Pending t_enters;
constinit thread_local Pending t_waits;

// In this recording, which began at `start_ns`, and by the same thread.
bool HasBegun(const Pending& pending, uint64_t start_ns, uint64_t java_tid) {
  return pending.begin_ns != 0 && pending.begin_ns >= start_ns && pending.java_tid == java_tid;
}

}  // namespace

bool MonitorWaits::MakeEnvironment() {
  if (env_ != nullptr) return true;
  JNIEnv* jni = nullptr;
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) return false;
  const jvm::LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
  thread_class_ = static_cast<jclass>(jni->NewGlobalRef(klass.get()));
  jvmtiEventCallbacks callbacks = {};
  callbacks.MonitorContendedEnter = jvm::kCallback<&MonitorWaits::ContendedEnter>;
  callbacks.MonitorContendedEntered = jvm::kCallback<&MonitorWaits::ContendedEntered>;
  callbacks.MonitorWait = jvm::kCallback<&MonitorWaits::Wait>;
  callbacks.MonitorWaited = jvm::kCallback<&MonitorWaits::Waited>;
  env_ = jvm::NewEnvironment(vm_, this, callbacks);
  return env_ != nullptr;
}

bool MonitorWaits::AddCapabilities(bool owners) {
  jvmtiCapabilities offered = {};
  env_->GetPotentialCapabilities(&offered);
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = offered.can_generate_monitor_events;
  wanted.can_get_monitor_info = owners && offered.can_get_monitor_info;
  env_->AddCapabilities(&wanted);
  env_->GetCapabilities(&granted_);
  return granted_.can_generate_monitor_events != 0 &&
         (!owners || granted_.can_get_monitor_info != 0);
}

void MonitorWaits::Lose(absl::string_view name, absl::string_view what) {
  losses_.Add(absl::StrCat("events.", name), Severity::kWarning, 1,
              absl::StrCat("kind of event that this JVM does not offer: ", what),
              "load the agent with -agentpath instead of attaching it");
}

void MonitorWaits::Start(const CodeSet& codes) {
  const bool owners = codes.Has(Code::kOwner);
  const bool joins = codes.Has(Code::kJoin);
  if (!owners && !joins) return;
  const bool has_events = MakeEnvironment() && AddCapabilities(owners);
  if (owners && !(has_events && jvm::EnableEvents(env_, kOwnerEvents).ok())) {
    Lose("owners", "owners of monitors");
  }
  if (joins && !(has_events && jvm::EnableEvents(env_, kJoinEvents).ok())) {
    Lose("joins", "ends of waits");
  }
}

void MonitorWaits::Stop() {
  if (env_ == nullptr) return;
  jvm::DisableEvents(env_, kOwnerEvents).IgnoreError();
  jvm::DisableEvents(env_, kJoinEvents).IgnoreError();
  env_->RelinquishCapabilities(&granted_);
  granted_ = {};
}

// The JVM stops all threads for a moment to answer.
proto::WaitEvent MonitorWaits::OwnerOf(JNIEnv* jni, jobject object) {
  const jvm::LocalFrame frame(jni);
  jvmtiMonitorUsage usage = {};
  if (env_->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE) {
    return WaitFor(proto::WaitEvent::UNKNOWN);
  }
  jvm::Allocated<jthread> waiters(env_);
  jvm::Allocated<jthread> notify_waiters(env_);
  *waiters.out() = usage.waiters;
  *notify_waiters.out() = usage.notify_waiters;
  if (usage.owner == nullptr) return WaitFor(proto::WaitEvent::UNOWNED);
  return WaitFor(proto::WaitEvent::OWNED, writer_.NumberOf(jni, usage.owner));
}

void MonitorWaits::ContendedEnter(JNIEnv* jni, jthread thread, jobject object) {
  Pending& pending = t_enters;
  pending = {.begin_ns = MonotonicNanos(), .java_tid = writer_.threads().JavaTid(jni, thread)};
  pending.recorded = limits_.Count(trace::LimitedEvent::kOwner, clock_.Since(pending.begin_ns));
  if (!pending.recorded) return;
  const proto::WaitEvent wait = OwnerOf(jni, object);
  pending.cause = wait.cause();
  pending.by_thread = wait.by_thread();
}

void MonitorWaits::ContendedEntered(JNIEnv* jni, jthread thread, jobject object) {
  const Pending pending = std::exchange(t_enters, Pending());
  const uint64_t now = MonotonicNanos();
  if (!HasBegun(pending, clock_.start(), writer_.threads().JavaTid(jni, thread))) return;
  limits_.Ended(trace::LimitedEvent::kOwner, now - pending.begin_ns);
  if (!pending.recorded) return;
  writer_.Add(env_, jni, thread,
              {format::kWaitedMonitor, clock_.Since(pending.begin_ns), clock_.Since(now), object},
              WaitFor(pending.cause, pending.by_thread));
}

void MonitorWaits::Wait(JNIEnv* jni, jthread thread, jobject, jlong) {
  Pending& pending = t_waits;
  pending = {.begin_ns = MonotonicNanos(), .java_tid = writer_.threads().JavaTid(jni, thread)};
  pending.recorded = limits_.Count(trace::LimitedEvent::kJoin, clock_.Since(pending.begin_ns));
}

// A thread that ends notifies those that wait on it.
proto::WaitEvent MonitorWaits::EndOf(JNIEnv* jni, jobject object, bool timed_out) {
  if (timed_out) return WaitFor(proto::WaitEvent::TIMED_OUT);
  if (jni->IsInstanceOf(object, thread_class_) == JNI_TRUE &&
      HasState(env_, object, JVMTI_THREAD_STATE_TERMINATED)) {
    jvm::ThreadRegistry& threads = writer_.threads();
    return WaitFor(proto::WaitEvent::ENDED, threads.Find(threads.JavaTid(jni, object)).number);
  }
  if (HasState(env_, nullptr, JVMTI_THREAD_STATE_INTERRUPTED)) {
    return WaitFor(proto::WaitEvent::INTERRUPTED);
  }
  return WaitFor(proto::WaitEvent::NOTIFIED);
}

void MonitorWaits::Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out) {
  const Pending pending = std::exchange(t_waits, Pending());
  const uint64_t now = MonotonicNanos();
  if (!HasBegun(pending, clock_.start(), writer_.threads().JavaTid(jni, thread))) return;
  limits_.Ended(trace::LimitedEvent::kJoin, now - pending.begin_ns);
  if (!pending.recorded) return;
  writer_.Add(env_, jni, thread,
              {format::kWaitedObject, clock_.Since(pending.begin_ns), clock_.Since(now), object},
              EndOf(jni, object, timed_out == JNI_TRUE));
}

}  // namespace jtrace::events
