// Writes the record of a wait that ended (0x64). Any Java thread, about itself.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>

#include "agent/events/event_source.h"

namespace jtrace::events {

struct EndedWait {
  uint32_t minor = 0;
  uint64_t begin_ns = 0;     // of the session
  uint64_t end_ns = 0;       // the same
  jobject object = nullptr;  // waited on
};

// A record's content; `by_thread`: Thread.id; 0: unknown.
proto::WaitEvent WaitFor(proto::WaitEvent::Cause cause, uint32_t by_thread = 0);

// The state of a thread, null being the calling one.
bool HasState(jvmtiEnv* env, jthread thread, jint flag);

class WaitWriter {
 public:
  explicit WaitWriter(const EventContext& context) : context_(context) {}

  // The innermost method with a probe that the thread is in, which is the calling one.
  uint32_t RoutineOf(uint64_t java_tid);
  // `thread`: the calling one, which has waited.
  void Add(jvmtiEnv* env, JNIEnv* jni, jthread thread, const EndedWait& ended,
           proto::WaitEvent wait);

 private:
  const EventContext& context_;
};

}  // namespace jtrace::events
