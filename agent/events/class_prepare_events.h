// Records classes that become ready for use (0x20/0x3, JVMTI's ClassPrepare).
#pragma once

#include <jvmti.h>

#include "agent/events/jvmti_event_recorder.h"

namespace jtrace::events {

// The callback is on the Java thread that prepares the class.
class ClassPrepareEvents : public JvmtiEventRecorder {
 public:
  explicit ClassPrepareEvents(const EventContext& context);

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;

  // Callback.
  void Prepared(JNIEnv* jni, jthread thread, jclass klass);
};

}  // namespace jtrace::events
