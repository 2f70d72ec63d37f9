// Records classes that become ready for use (0x20/0x3, JVMTI's ClassPrepare).
#pragma once

#include <jvmti.h>

#include "agent/events/jvmti_event_source.h"

namespace jtrace::events {

// The callback is on the Java thread that prepares the class.
class PreparedClasses : public JvmtiEventSource {
 public:
  explicit PreparedClasses(const EventContext& context);

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;

  // Callback.
  void Prepared(JNIEnv* jni, jthread thread, jclass klass);
};

}  // namespace jtrace::events
