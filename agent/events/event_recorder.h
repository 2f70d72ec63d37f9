// The interface of the sources of events that are recorded on request (codes=), and what sources
// use. event_recorders.cc lists them all.
#pragma once

#include <jvmti.h>

#include <cstdint>

#include "absl/types/span.h"
#include "agent/base/clock.h"
#include "agent/base/event_code_set.h"
#include "agent/base/losses.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/event_rate_limiter.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::events {

class IoCalls;

// What sources use; it lives as long as the process. Each part's header says which threads may use
// it.
struct EventContext {
  JavaVM* vm;
  jvm::ClassRegistry& classes;
  const RecordingClock& clock;
  jvm::ThreadRegistry& threads;
  trace::RecordEncoder& encoder;
  trace::EventRateLimiter& limits;
  Losses& losses;
  IoCalls& io;

  // Returns a thread's number in the trace; a virtual thread gets one. On any Java thread.
  uint32_t NumberOf(JNIEnv* jni, jthread thread) const {
    const jvm::TraceThreadIds numbers = threads.FindRunning(jni, thread).numbers;
    return numbers.number != 0 ? numbers.number : threads.NumberOfJava(numbers.java_tid);
  }
  // Adds a record of `code`. `event` has the other fields; its minor is kEnd for an end, else 0. On
  // any thread.
  void Add(Code code, trace::EventRecord event) const {
    const format::EventCode& row = format::RowOf(code);
    event.major = row.major;
    event.minor |= row.minor;
    encoder.AddEvent(event);
  }
};

// A source is made once and used by one recording after the other. Threads: Prepare, Start and Stop
// one at a time, on the thread of a start or stop; records are made on the thread concerned.
class EventRecorder {
 public:
  virtual ~EventRecorder() = default;
  // The codes of its events. Start is called only if one of them is requested.
  virtual absl::Span<const Code> codes() const = 0;
  // Called before a recording begins. At load no thread of the program runs yet.
  virtual void Prepare(const EventCodeSet& /*codes*/) {}
  // Records those of its events that are in `codes`. Those that the JVM does not offer are a loss.
  virtual void Start(const EventCodeSet& codes) = 0;
  // Called even without a Start. Events that are just being recorded may still get their record.
  virtual void Stop() = 0;
  // The source of what it adds to chunks; null: it adds only single records.
  virtual trace::ChunkSource* chunk_source() { return nullptr; }

  bool IsRequested(const EventCodeSet& requested) const {
    for (const Code code : codes()) {
      if (requested.Has(code)) return true;
    }
    return false;
  }
};

}  // namespace jtrace::events
