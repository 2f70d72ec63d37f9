// Who unparked threads that were parked, if codes= requests it.
//
// Threads: Start and Stop on the thread of a start or stop; the rest on the Java thread concerned.
#pragma once

#include <jvmti.h>

#include <vector>

#include "agent/base/clock.h"
#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/events/park_natives.h"
#include "agent/events/unpark_table.h"
#include "agent/events/wait_writer.h"
#include "agent/trace/limited_events.h"

namespace jtrace::events {

class ParkWaits : public ParkListener {
 public:
  ParkWaits(JavaVM* vm, const SessionClock& clock, WaitWriter& writer, LimitedEvents& limits,
            Losses& losses)
      : vm_(vm), clock_(clock), writer_(writer), limits_(limits), losses_(losses) {}

  // Reports what the JVM does not offer as a loss.
  void Start(const CodeSet& codes);
  void Stop() { IgnoreParks(); }

  void Unparks(JNIEnv* jni, jobject target) override;
  void Parked(JNIEnv* jni, const ParkCall& call) override;

 private:
  absl::Status Listen();
  uint64_t ParkedTid(JNIEnv* jni, const jvmti::RunningThread& running);
  proto::WaitEvent EndOf(uint64_t parked_tid, uint64_t java_tid, int32_t object,
                         const ParkCall& call, bool is_recorded);

  JavaVM* vm_;
  const SessionClock& clock_;
  WaitWriter& writer_;
  LimitedEvents& limits_;
  Losses& losses_;
  jvmtiEnv* env_ = nullptr;
  // Of java.lang.Thread; null: this JDK does not have it.
  jclass thread_class_ = nullptr;  // a global reference
  jfieldID park_blocker_ = nullptr;
  jmethodID current_carrier_ = nullptr;
  UnparkTable unparks_;
};

}  // namespace jtrace::events
