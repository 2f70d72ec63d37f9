// Allocated objects (0x70): a record of a sample of them.
#pragma once

#include <jvmti.h>

#include "agent/events/jvmti_event_source.h"

namespace jtrace::events {

// The callback is on the Java thread that allocates.
class AllocationEvents : public JvmtiEventSource {
 public:
  explicit AllocationEvents(const EventContext& context);

  absl::Span<const Code> codes() const override;
  void Start(const CodeSet& codes) override;

  // Callback.
  void Allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size);
};

}  // namespace jtrace::events
