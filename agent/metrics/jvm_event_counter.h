// JVM events that are counted for the thread they happen on: exceptions, waits for monitors, I/O;
// also which virtual thread runs on which carrier.
//
// The events have a JVMTI environment of their own. Threads: Prepare, Start and Stop one at a time;
// FollowVirtualThreads on any; callbacks on the thread concerned.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "agent/events/io_calls.h"
#include "agent/jvm/jvmti_environment.h"
#include "agent/jvm/thread_fields.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

class JvmEventCounter : public events::IoListener {
 public:
  JvmEventCounter(JavaVM* vm, events::IoCalls& io, ThreadCounters& counters);
  JvmEventCounter(const JvmEventCounter&) = delete;
  JvmEventCounter& operator=(const JvmEventCounter&) = delete;

  // Requests the JVMTI capabilities that these metrics (bits) need. The JVM grants events of
  // exceptions only at load.
  void Prepare(uint64_t wanted);
  // Counts these metrics (bits) from here on. Returns those that this JVM can count now.
  uint64_t Start(uint64_t wanted);
  // Ends the events, and gives the capabilities back.
  void Stop();
  // Distinguishes virtual threads from their carriers from here on. Returns false if this JVM has
  // no virtual threads, or does not report them.
  bool FollowVirtualThreads();

  // Callbacks.
  void Thrown(jmethodID method, jlocation bci);
  void ContendedEnter(JNIEnv*, jthread, jobject);
  void ContendedEntered(JNIEnv*, jthread, jobject);
  void Mounted(JNIEnv* jni, jthread thread);
  void Unmounted();
  void Began(JNIEnv*, const events::IoCall&) override {}
  void Ended(JNIEnv* jni, const events::IoCall& call) override;

 private:
  uint64_t StartIo(uint64_t wanted);
  uint64_t StartEvents(uint64_t wanted);

  events::IoCalls& io_;
  ThreadCounters& counters_;
  jvm::Environment env_;
  jvm::ThreadFields fields_;
  absl::Mutex follow_mutex_;
  std::atomic<bool> follows_{false};
};

}  // namespace jtrace::metrics
