// Functions in place of the two natives through which platform threads park and are unparked,
// whatever they use of java.util.concurrent: jdk.internal.misc.Unsafe.park and unpark.
//
// They stay there from the first request on: without a listener they only call the JVM's function.
// JNI passes a native nothing of ours, so the functions and the listener are known to the whole
// process. Threads: ListenToParks one at a time; listeners are called on the Java thread concerned.
#pragma once

#include <jvmti.h>

#include <cstdint>

#include "absl/status/status.h"

namespace jtrace::events {

struct ParkCall {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  // The time limit, as the native gets it: if absolute, milliseconds since 1970; else nanoseconds
  // from the begin, where 0 means that there is no limit.
  bool is_absolute = false;
  int64_t time = 0;
};

class ParkListener {
 public:
  // The calling thread is about to unpark `target`, a java.lang.Thread.
  virtual void Unparks(JNIEnv* jni, jobject target) = 0;
  // The calling thread was parked.
  virtual void Parked(JNIEnv* jni, const ParkCall& call) = 0;

 protected:
  ~ParkListener() = default;
};

// Replaces the natives, if that is not done, and sets the listener. It lives as long as the
// process: parks that have begun reach it after StopListeningToParks. In the live phase.
absl::Status ListenToParks(jvmtiEnv* env, JNIEnv* jni, ParkListener& listener);
void StopListeningToParks();

}  // namespace jtrace::events
