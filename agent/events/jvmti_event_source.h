// The base of sources that record events of the JVM Tool Interface, in an environment of their own.
#pragma once

#include <jvmti.h>

#include <initializer_list>

#include "absl/strings/string_view.h"
#include "agent/events/event_source.h"
#include "agent/jvm/jvmti_environment.h"

namespace jtrace::events {

class JvmtiEventSource : public EventSource {
 public:
  // Events off, capabilities returned.
  void Stop() override { environment_.Stop(); }

 protected:
  // `callbacks`: jvm::kCallback of methods of `owner`, which is this source, by its own type.
  JvmtiEventSource(const EventContext& context, void* owner, const jvmtiEventCallbacks& callbacks)
      : context_(context), environment_(context.vm, owner, callbacks) {}

  const EventContext& context() const { return context_; }
  // Null: it is not open.
  jvmtiEnv* env() const { return environment_.get(); }

  // Opens the environment, if it is not open, and adds those of `wanted` that the JVM offers now.
  // Returns all that the environment has.
  jvmtiCapabilities Open(const jvmtiCapabilities& wanted);
  // `is_offered`: the capabilities that the events need are there. If not, or if the JVM refuses
  // the events, that is the loss "events.NAME", of what `what` says for people.
  void Enable(bool is_offered, absl::string_view name, absl::string_view what,
              std::initializer_list<jvmtiEvent> events);

  // EventContext::Add for the calling thread, which is `thread`, with the class's name as text.
  void Add(Code code, trace::EventRecord event, JNIEnv* jni, jthread thread, jclass klass);

 private:
  const EventContext& context_;
  jvm::Environment environment_;
};

}  // namespace jtrace::events
