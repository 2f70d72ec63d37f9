#include "agent/events/class_prepare_events.h"

namespace jtrace::events {
namespace {

jvmtiEventCallbacks PrepareCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.ClassPrepare = jvm::kCallback<&ClassPrepareEvents::Prepared>;
  return callbacks;
}

}  // namespace

ClassPrepareEvents::ClassPrepareEvents(const EventContext& context)
    : JvmtiEventRecorder(context, this, PrepareCallbacks()) {}

absl::Span<const Code> ClassPrepareEvents::codes() const {
  static constexpr Code kCodes[] = {Code::kClassPrepare};
  return kCodes;
}

void ClassPrepareEvents::Start(const EventCodeSet&) {
  Open({});
  Enable(/*is_offered=*/true, "prepared classes", "prepared classes", {JVMTI_EVENT_CLASS_PREPARE});
}

void ClassPrepareEvents::Prepared(JNIEnv* jni, jthread thread, jclass klass) {
  const uint64_t now = context().clock.Now();
  if (!context().limits.Count(Code::kClassPrepare, now)) return;
  Add(Code::kClassPrepare, {.time_ns = now}, jni, thread, klass);
}

}  // namespace jtrace::events
