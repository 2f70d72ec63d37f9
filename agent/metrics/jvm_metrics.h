// The metrics of one JVM: the counters of its threads, the sources of counts, and the access from
// Java.
//
// Created once, never freed: threads, probes and the program's queries may use it at any time.
// Threads: callbacks on the thread concerned; Begin and End one at a time; queries on any.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/base/losses.h"
#include "agent/calls/counter_natives.h"
#include "agent/calls/trees/path_metrics.h"
#include "agent/events/io_calls.h"
#include "agent/jvm/hotspot/java_thread_layout.h"
#include "agent/jvm/thread_fields.h"
#include "agent/jvm/thread_table.h"
#include "agent/metrics/jvm_event_counter.h"
#include "agent/metrics/live_object_counter.h"
#include "agent/metrics/thread_counters.h"
#include "agent/metrics/thread_perf_events.h"

namespace jtrace::metrics {

class JvmMetrics : public calls::ThreadCounterAccess {
 public:
  JvmMetrics(JavaVM* vm, const jvm::JavaThreadLayout& layout, jvm::ThreadTable& threads)
      : layout_(layout),
        io_(vm),
        counters_(layout.allocated, threads),
        event_counter_(vm, io_, counters_),
        objects_(vm, counters_) {}
  static JvmMetrics* Create(JavaVM* vm, jvm::ThreadTable& threads);

  ThreadCounters& counters() { return counters_; }
  events::IoCalls& io() { return io_; }
  // Returns whether Define has succeeded, so that Java code can query metrics.
  bool is_defined() const { return is_defined_; }

  // Lets the program query metrics. In VMInit or later. Reports what the JVM refuses as a loss.
  void Define(JNIEnv* jni, Losses& losses);
  // Prepares the Java functions with which probes charge metrics to call paths. Returns false, with
  // a loss that says why, if probes cannot use them.
  bool CanCharge(JNIEnv* jni, Losses& losses) const;

  // Returns the numbers of metrics by name; creates user counters that do not exist yet.
  absl::StatusOr<std::vector<uint32_t>> Numbers(const std::vector<std::string>& names);

  // Prepares a recording of these metrics, by number. At load this runs before any thread of the
  // program, when the JVM grants capabilities that it refuses later.
  void Prepare(const std::vector<uint32_t>& metrics);
  // Begins a recording of these metrics, by number. `live`: threads have already run without it.
  // `has_trees`: the recording keeps call trees. Reports metrics that cannot be counted as losses.
  void Begin(const std::vector<uint32_t>& metrics, bool live, bool has_trees, Losses& losses);
  // Stops counting, and reports what was not counted. The counts can still be queried until End.
  void StopSources(Losses& losses);
  void End();
  // Distinguishes virtual threads from their carriers from here on.
  void FollowVirtualThreads() { event_counter_.FollowVirtualThreads(); }

  // Objects by the call path that allocated them, between Begin and End.
  const AllocationPaths& object_paths() { return objects_.paths(); }

  // Returns those of `metrics` that the probes charge to call paths.
  calls::PathMetrics PathMetricsOf(const std::vector<uint32_t>& metrics) const;
  // Returns the thread's counts since probes last charged them; 0 for ended threads. Any thread.
  calls::MetricValues SinceCharged(const calls::PathMetrics& metrics,
                                   const signal_safe::ThreadState& state) const;
  // Returns the name for a number of PathMetrics: "alloc.bytes", "elapsed.alloc.bytes".
  std::string NameOf(uint8_t number) const;

  // Callbacks.
  void ThreadStart(JNIEnv* jni, jthread thread);
  // Counts a thread that may run since before the agent was loaded. On any thread.
  void Adopt(JNIEnv* jni, jthread thread);
  // Called first when a thread ends: its call paths get what the kernel has counted.
  void ThreadEnding() { perf_events_.Detach(); }
  void ThreadEnd() { counters_.End(); }
  void VirtualThreadEnd(uint64_t java_tid) { counters_.EndVirtual(java_tid); }
  // Called inside a safepoint, on the VM thread.
  void GcStart(uint64_t now_ns) { gc_began_ = now_ns; }
  void GcFinish(uint64_t now_ns);

  // Counts the calling thread, which is `thread`, from here on. False: no memory.
  bool RegisterThread(JNIEnv* jni, jthread thread);
  // Returns the total of a thread, which may have started before anything was counted.
  absl::StatusOr<int64_t> TotalOf(JNIEnv* jni, jthread thread, uint32_t metric);

  // ThreadCounterAccess
  signal_safe::MetricCounts* CountsOfThread(uint64_t java_tid, bool is_virtual,
                                            uint64_t java_thread) override;
  bool RanBeforeRecording(const signal_safe::MetricCounts& block) const override;
  absl::StatusOr<int64_t> Own(uint32_t metric) override { return counters_.Own(metric); }
  const signal_safe::AllocLayout& layout() const override { return layout_.allocated; }

 private:
  void CheckAllocations(JNIEnv* jni, Losses& losses);

  jvm::JavaThreadLayout layout_;
  bool allocations_checked_ = false;
  events::IoCalls io_;
  ThreadCounters counters_;
  JvmEventCounter event_counter_;
  ThreadPerfEvents perf_events_;
  LiveObjectCounter objects_;
  std::atomic<bool> live_{false};
  std::atomic<uint64_t> began_ns_{0};
  uint64_t gc_began_ = 0;
  bool is_defined_ = false;
  jvm::ThreadFields fields_;
};

}  // namespace jtrace::metrics
