// Records, when a park ends, which thread unparked the parked one (0x64, codes=+unpark).
#pragma once

#include <jvmti.h>

#include <cstdint>

#include "absl/status/status.h"
#include "agent/events/event_recorder.h"
#include "agent/events/park_natives.h"
#include "agent/events/unpark_table.h"
#include "agent/events/wait_writer.h"
#include "agent/jvm/jvmti_environment.h"

namespace jtrace::events {

// Listens to parks and unparks, on the Java thread concerned.
class ParkWaitCauses : public EventRecorder, public ParkListener {
 public:
  explicit ParkWaitCauses(const EventContext& context)
      : context_(context), writer_(context), environment_(context.vm, this, {}) {}

  absl::Span<const Code> codes() const override;
  void Start(const EventCodeSet& codes) override;
  void Stop() override { StopListeningToParks(); }

  void Unparks(JNIEnv* jni, jobject target) override;
  void Parked(JNIEnv* jni, const ParkCall& call) override;

 private:
  absl::Status Listen();
  uint64_t ParkedTid(JNIEnv* jni, const jvm::RunningThread& running);
  proto::WaitEvent EndOf(uint64_t parked_tid, uint64_t java_tid, int32_t object,
                         const ParkCall& call, bool is_recorded);

  const EventContext& context_;
  WaitWriter writer_;
  jvm::Environment environment_;
  // java.lang.Thread and members; a member that this JDK does not have is null.
  jclass thread_class_ = nullptr;  // a global reference
  jfieldID park_blocker_ = nullptr;
  jmethodID current_carrier_ = nullptr;
  UnparkTable unparks_;
};

}  // namespace jtrace::events
