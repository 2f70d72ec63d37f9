// The interface of all that records events on request (codes=), and what such a source is made
// from. event_sources.cc has the list of them.
#pragma once

#include <jvmti.h>

#include <cstdint>

#include "absl/types/span.h"
#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::events {

class IoCalls;

// What sources use; it lives as long as the process. Each part's header says which threads may use
// it.
struct EventContext {
  JavaVM* vm;
  jvm::ClassRegistry& classes;
  const SessionClock& clock;
  jvm::ThreadRegistry& threads;
  trace::RecordEncoder& encoder;
  trace::LimitedEvents& limits;
  Losses& losses;
  IoCalls& io;

  // A thread's number in the trace; a virtual thread gets one. Any Java thread.
  uint32_t NumberOf(JNIEnv* jni, jthread thread) const {
    const jvm::ThreadNumbers numbers = threads.FindRunning(jni, thread).numbers;
    return numbers.number != 0 ? numbers.number : threads.NumberOfJava(numbers.java_tid);
  }
  // A record of that code; `event` has what else is known, and kEnd as its minor if it is an end.
  // Any thread.
  void Add(Code code, trace::EventRecord event) const {
    const format::EventCode& row = format::RowOf(code);
    event.major = row.major;
    event.minor |= row.minor;
    encoder.AddEvent(event);
  }
};

// A source is made once and used by one recording after the other. Threads: Prepare, Start and Stop
// one at a time, on the thread of a start or stop; records are made on the thread concerned.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // The codes of its events. Start is called only if one of them is requested.
  virtual absl::Span<const Code> codes() const = 0;
  // A recording will begin. At load no thread of the program runs yet.
  virtual void Prepare(const CodeSet& /*codes*/) {}
  // Records those of its events that are in `codes`. What the JVM does not offer is a loss.
  virtual void Start(const CodeSet& codes) = 0;
  // Also without a Start. An event that is being recorded on another thread may still get its
  // record.
  virtual void Stop() = 0;
  // What it adds to chunks on the writer thread; null: it adds single records only.
  virtual trace::ChunkSource* chunk_source() { return nullptr; }

  bool IsRequested(const CodeSet& requested) const {
    for (const Code code : codes()) {
      if (requested.Has(code)) return true;
    }
    return false;
  }
};

}  // namespace jtrace::events
