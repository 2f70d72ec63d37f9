// Allocated objects (0x70): a record of a sample of them, or "a record of each allocation" (S3.27)
// with class, size, method and line.
//
// The JVM reports an object where its thread-local buffer ends for the sampler; with an interval of
// 0 bytes that is each object, those of natives and of compiled code too.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <optional>

#include "agent/events/jvmti_event_source.h"

namespace jtrace::events {

// The callback is on the Java thread that allocates.
class AllocationEvents : public JvmtiEventSource {
 public:
  explicit AllocationEvents(const EventContext& context);

  absl::Span<const Code> codes() const override;
  // Sets the interval before the program's first thread runs: JDK 17 reports what a running thread
  // allocates only from the end of its last interval on, half a megabyte on average.
  void Prepare(const CodeSet& codes) override;
  // If each allocation is requested there are no samples.
  void Start(const CodeSet& codes) override;
  void Stop() override;

  // Callback.
  void Allocated(JNIEnv* jni, jthread thread, jobject object, jclass klass, jlong size);

 private:
  // Whether the JVM offers the events.
  bool OpenForEvents();
  void AddSample(JNIEnv* jni, jthread thread, jclass klass, jlong size);
  void AddEach(JNIEnv* jni, jthread thread, jclass klass, jlong size);
  // The innermost method of the calling thread that has a number as a routine, and its line. None:
  // a probe has allocated.
  std::optional<proto::AllocationEvent> Requester();
  uint32_t LineOf(const jvmtiFrameInfo& frame);

  // On the threads of a start and a stop.
  bool has_set_interval_ = false;
  bool is_before_program_ = false;  // the last Prepare was in Agent_OnLoad
  std::atomic<bool> records_each_{false};
};

}  // namespace jtrace::events
