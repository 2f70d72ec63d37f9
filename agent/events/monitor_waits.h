// Records the causes of waits that ended (0x64): the owner of a contended monitor (codes=+owner),
// the notification, timeout, interrupt or thread's end that ended Object.wait (codes=+join).
#pragma once

#include <jvmti.h>

#include "agent/events/jvmti_event_recorder.h"
#include "agent/events/wait_writer.h"

namespace jtrace::events {

// Callbacks are on the Java thread concerned.
class MonitorWaits : public JvmtiEventRecorder {
 public:
  explicit MonitorWaits(const EventContext& context);

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;

  // Callbacks.
  void ContendedEnter(JNIEnv* jni, jthread thread, jobject object);
  void ContendedEntered(JNIEnv* jni, jthread thread, jobject object);
  void Wait(JNIEnv* jni, jthread thread, jobject object, jlong timeout_ms);
  void Waited(JNIEnv* jni, jthread thread, jobject object, jboolean timed_out);

 private:
  // Whether the JVM offers the events and, if they are wanted, the owners.
  bool OpenForEvents(bool owners);
  proto::WaitEvent OwnerOf(JNIEnv* jni, jobject object);
  proto::WaitEvent EndOf(JNIEnv* jni, jobject object, bool timed_out);

  WaitWriter writer_;
  jclass thread_class_ = nullptr;  // a global reference
};

}  // namespace jtrace::events
