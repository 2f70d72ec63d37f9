// Records contended monitors and Object.wait (0x61, codes=+monitor): one record when a thread
// begins to wait, one when it ends. Who caused the wait is in monitor_waits.h's records.
#pragma once

#include <jvmti.h>

#include "agent/events/jvmti_event_recorder.h"

namespace jtrace::events {

// Callbacks are on the Java thread concerned.
class MonitorEvents : public JvmtiEventRecorder {
 public:
  explicit MonitorEvents(const EventContext& context);

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;

  // Callbacks.
  void ContendedEnter(JNIEnv* jni, jthread thread, jobject object);
  void ContendedEntered(JNIEnv* jni, jthread thread, jobject object);
  void Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms);
  void Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out);

 private:
  void Begin(Code code, JNIEnv* jni, jthread thread, jobject object, int64_t value);
  void End(Code code, JNIEnv* jni, jthread thread, jobject object);
};

}  // namespace jtrace::events
