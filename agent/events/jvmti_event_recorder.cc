#include "agent/events/jvmti_event_recorder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::events {

jvmtiCapabilities JvmtiEventRecorder::Open(const jvmtiCapabilities& wanted) {
  return environment_.Open() != nullptr ? environment_.AddCapabilities(wanted)
                                        : jvmtiCapabilities();
}

void JvmtiEventRecorder::Enable(bool is_offered, absl::string_view name, absl::string_view what,
                                std::initializer_list<jvmtiEvent> events) {
  if (is_offered && env() != nullptr && environment_.Enable(events).ok()) return;
  context_.losses.Add(absl::StrCat("events.", name), Severity::kWarning, 1,
                      absl::StrCat("kind of event that this JVM does not offer: ", what),
                      "load the agent with -agentpath instead of attaching it");
}

void JvmtiEventRecorder::Add(Code code, trace::EventRecord event, JNIEnv* jni, jthread thread,
                             jclass klass) {
  const std::string name = jvm::ClassName(env(), klass);
  event.thread = context_.NumberOf(jni, thread);
  event.text = name;
  context_.Add(code, event);
}

}  // namespace jtrace::events
