// Who had the monitors that threads waited for, and how Object.wait ended, if codes= requests it.
//
// It has its own JVMTI environment, created when the first of them is requested. Threads: Start and
// Stop on the thread of a start or stop; callbacks on the Java thread concerned.
#pragma once

#include <jvmti.h>

#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/events/wait_writer.h"
#include "agent/trace/limited_events.h"

namespace jtrace::events {

class MonitorWaits {
 public:
  MonitorWaits(JavaVM* vm, const SessionClock& clock, WaitWriter& writer,
               trace::LimitedEvents& limits, Losses& losses)
      : vm_(vm), clock_(clock), writer_(writer), limits_(limits), losses_(losses) {}

  // Reports what the JVM does not offer as losses.
  void Start(const CodeSet& codes);
  void Stop();

  // Callbacks.
  void ContendedEnter(JNIEnv* jni, jthread thread, jobject object);
  void ContendedEntered(JNIEnv* jni, jthread thread, jobject object);
  void Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms);
  void Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out);

 private:
  bool MakeEnvironment();
  bool AddCapabilities(bool owners);
  void Lose(absl::string_view name, absl::string_view what);
  proto::WaitEvent OwnerOf(JNIEnv* jni, jobject object);
  proto::WaitEvent EndOf(JNIEnv* jni, jobject object, bool timed_out);

  JavaVM* vm_;
  const SessionClock& clock_;
  WaitWriter& writer_;
  trace::LimitedEvents& limits_;
  Losses& losses_;
  jvmtiEnv* env_ = nullptr;
  jclass thread_class_ = nullptr;  // a global reference
  jvmtiCapabilities granted_ = {};
};

}  // namespace jtrace::events
