// Writes the record of a wait that ended (0x64). Any Java thread, about itself.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>

#include "agent/jvm/thread_registry.h"
#include "agent/trace/record_encoder.h"

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
  WaitWriter(jvm::ThreadRegistry& threads, trace::RecordEncoder& encoder)
      : threads_(threads), encoder_(encoder) {}

  jvm::ThreadRegistry& threads() { return threads_; }
  // A thread's number in the trace; a virtual thread gets one.
  uint32_t NumberOf(JNIEnv* jni, jthread thread);
  // The innermost method with a probe that the thread is in, which is the calling one.
  uint32_t RoutineOf(uint64_t java_tid);
  // `thread`: the calling one, which has waited.
  void Add(jvmtiEnv* env, JNIEnv* jni, jthread thread, const EndedWait& ended,
           proto::WaitEvent wait);

 private:
  jvm::ThreadRegistry& threads_;
  trace::RecordEncoder& encoder_;
};

}  // namespace jtrace::events
