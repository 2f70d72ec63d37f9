// The base of sources that record events of the JVM Tool Interface, in an environment of their own.
#pragma once

#include <jvmti.h>

#include <initializer_list>

#include "absl/strings/string_view.h"
#include "agent/events/event_recorder.h"
#include "agent/jvm/jvmti_environment.h"

namespace jtrace::events {

class JvmtiEventRecorder : public EventRecorder {
 public:
  // Disables the events and gives the capabilities back.
  void Stop() override { environment_.Stop(); }

 protected:
  // `callbacks`: jvm::kCallback of methods of `owner`, which is this source, by its own type.
  JvmtiEventRecorder(const EventContext& context, void* owner, const jvmtiEventCallbacks& callbacks)
      : context_(context), environment_(context.vm, owner, callbacks) {}

  const EventContext& context() const { return context_; }
  // Null: it is not open.
  jvmtiEnv* env() const { return environment_.get(); }

  // Opens the environment, if it is not open, and adds those of `wanted` that the JVM offers now.
  // Returns all that the environment has.
  jvmtiCapabilities Open(const jvmtiCapabilities& wanted);
  // Enables the events. `is_offered`: the environment has the capabilities that they need. If not,
  // or if the JVM refuses the events, adds the loss "events.NAME"; `what` names them for people.
  void Enable(bool is_offered, absl::string_view name, absl::string_view what,
              std::initializer_list<jvmtiEvent> events);

  // Adds a record of `thread`, which is the calling one, with the class's name as text.
  void Add(Code code, trace::EventRecord event, JNIEnv* jni, jthread thread, jclass klass);

 private:
  const EventContext& context_;
  jvm::Environment environment_;
};

}  // namespace jtrace::events
