// Writes the record of a wait that ended (0x64). Any Java thread, about itself.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>

#include "agent/events/event_recorder.h"

namespace jtrace::events {

struct EndedWait {
  uint32_t minor = 0;        // format::kWaited…
  uint64_t begin_ns = 0;     // of the recording
  uint64_t end_ns = 0;       // of the recording
  jobject object = nullptr;  // what the thread waited on; null: unknown
};

// Returns a record's cause and the thread that caused the end (Thread.id; 0: unknown).
proto::WaitEvent MakeWaitEvent(proto::WaitEvent::Cause cause, uint32_t by_thread = 0);

// Whether a thread (null: the calling one) has a state, such as JVMTI_THREAD_STATE_INTERRUPTED.
bool ThreadHasState(jvmtiEnv* env, jthread thread, jint flag);

class WaitWriter {
 public:
  explicit WaitWriter(const EventContext& context) : context_(context) {}

  // Returns the innermost method with a probe (Routine.id) of the calling thread; 0: none.
  uint32_t RoutineOf(uint64_t java_tid);
  // Adds the record. `thread` is the calling one, which has waited.
  void Add(jvmtiEnv* env, JNIEnv* jni, jthread thread, const EndedWait& ended,
           proto::WaitEvent wait);

 private:
  const EventContext& context_;
};

}  // namespace jtrace::events
