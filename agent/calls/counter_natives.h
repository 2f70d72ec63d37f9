// The native methods through which Java code reaches the counters of threads (JTraceMetrics.java).
#pragma once

#include <jni.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::calls {

// Keeps the counters of threads. All calls are on the thread that they are about, from Java.
class ThreadCounterAccess {
 public:
  virtual ~ThreadCounterAccess() = default;
  // Returns the thread's block, new if there was none; null: no memory. `java_thread`: 0 if
  // virtual.
  virtual signal_safe::MetricCounts* CountsOfThread(uint64_t java_tid, bool is_virtual,
                                                    uint64_t java_thread) = 0;
  // Whether the thread ran before the recording: its counts up to now belong to none.
  virtual bool RanBeforeRecording(const signal_safe::MetricCounts& block) const = 0;
  // Returns the calling thread's total of a metric. An error says why it is unknown.
  virtual absl::StatusOr<int64_t> Own(uint32_t metric) = 0;
  // Where the JVM counts a thread's allocated bytes.
  virtual const signal_safe::AllocLayout& layout() const = 0;
};

// Defines JTraceMetrics and the classes it calls, once per JVM, in VMInit or later. `counters`
// must live forever. Nothing is printed; no Java exception is left pending. FailedPrecondition: the
// JVM rejects it. JTraceMetrics is initialized by its first use, which takes 10 to 20 ms: not every
// program has one.
absl::Status DefineCounters(JNIEnv* jni, ThreadCounterAccess* counters);
// Initializes JTraceMetrics before probes use it. Internal: it disagrees with metric_counts.h.
absl::Status InitializeCounters(JNIEnv* jni);

}  // namespace jtrace::calls
