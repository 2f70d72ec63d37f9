#include "agent/events/prepared_classes.h"

namespace jtrace::events {
namespace {

jvmtiEventCallbacks PrepareCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.ClassPrepare = jvm::kCallback<&PreparedClasses::Prepared>;
  return callbacks;
}

}  // namespace

PreparedClasses::PreparedClasses(const EventContext& context)
    : JvmtiEventSource(context, this, PrepareCallbacks()) {}

absl::Span<const Code> PreparedClasses::codes() const {
  static constexpr Code kCodes[] = {Code::kClassPrepare};
  return kCodes;
}

void PreparedClasses::Start(const EventCodeSet&) {
  Open({});
  Enable(/*is_offered=*/true, "prepared classes", "prepared classes", {JVMTI_EVENT_CLASS_PREPARE});
}

void PreparedClasses::Prepared(JNIEnv* jni, jthread thread, jclass klass) {
  const uint64_t now = context().clock.Now();
  if (!context().limits.Count(Code::kClassPrepare, now)) return;
  Add(Code::kClassPrepare, {.time_ns = now}, jni, thread, klass);
}

}  // namespace jtrace::events
