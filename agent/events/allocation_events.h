// Records allocated objects (0x70): a sample of them (codes=+alloc), or each one with its class,
// size, method and line (codes=+each-alloc, S3.27).
//
// The JVM reports one object for each sampling interval that a thread allocates. With an interval
// of 0 bytes it reports each object, including those that natives and compiled code allocate.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <optional>

#include "agent/events/jvmti_event_recorder.h"

namespace jtrace::events {

// The callback is on the Java thread that allocates.
class AllocationEvents : public JvmtiEventRecorder {
 public:
  explicit AllocationEvents(const EventContext& context);

  absl::Span<const Code> codes() const override;
  // Sets the interval before the program's first thread runs: JDK 17 reports what a running thread
  // allocates only from the end of its last interval on, half a megabyte on average.
  void Prepare(const EventCodeSet& codes) override;
  // If each allocation is requested, no sample is recorded.
  void Start(const EventCodeSet& codes) override;
  void Stop() override;

  // Callback.
  void Allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size);

 private:
  // Whether the JVM offers the events.
  bool OpenForEvents();
  void AddSample(JNIEnv* jni, jthread thread, jclass klass, jlong size);
  void AddEach(JNIEnv* jni, jthread thread, jclass klass, jlong size);
  // Returns the calling thread's innermost method with a probe, and its line; no fields if there is
  // none. No value: a probe itself has allocated.
  std::optional<proto::AllocationEvent> AllocatingMethod();
  uint32_t LineOf(const jvmtiFrameInfo& frame);

  // Used by the threads of a start and a stop only.
  bool has_set_interval_ = false;
  bool is_before_program_ = false;  // the last Prepare was in Agent_OnLoad
  std::atomic<bool> records_each_{false};
};

}  // namespace jtrace::events
