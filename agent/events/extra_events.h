// Events that are recorded only if codes= requests them: contended monitors and waits (0x61), a
// sample of the allocations (0x70), prepared classes (0x20/0x3).
//
// They have their own JVMTI environment, created when the first of them is requested: so a JVM
// enables nothing that was not requested, and the other callbacks are independent of them. Threads:
// Start and Stop on the thread of a start or stop; callbacks on the Java thread concerned.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::events {

class ExtraEvents {
 public:
  ExtraEvents(JavaVM* vm, const SessionClock& clock, jvm::ThreadRegistry& threads,
              trace::RecordEncoder& encoder, trace::LimitedEvents& limits, Losses& losses)
      : vm_(vm),
        clock_(clock),
        threads_(threads),
        encoder_(encoder),
        limits_(limits),
        losses_(losses) {}

  // Reports events that the JVM does not offer as losses.
  void Start(const CodeSet& codes);
  void Stop();

  // Callbacks.
  void ContendedEnter(JNIEnv* jni, jthread thread, jobject object);
  void ContendedEntered(JNIEnv* jni, jthread thread, jobject object);
  void Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms);
  void Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out);
  void Allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size);
  void Prepared(JNIEnv* jni, jthread thread, jclass klass);

 private:
  bool MakeEnvironment();
  void Enable(bool wanted, bool offered, absl::string_view what,
              std::initializer_list<jvmtiEvent> events);
  void Add(JNIEnv* jni, jthread thread, trace::EventRecord event, jclass klass);
  void Begin(trace::LimitedEvent event, JNIEnv* jni, jthread thread, jobject object, uint32_t minor,
             int64_t value);
  void End(trace::LimitedEvent event, JNIEnv* jni, jthread thread, jobject object, uint32_t minor);

  JavaVM* vm_;
  const SessionClock& clock_;
  jvm::ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
  trace::LimitedEvents& limits_;
  Losses& losses_;
  jvmtiEnv* env_ = nullptr;
  jvmtiCapabilities granted_ = {};
};

}  // namespace jtrace::events
