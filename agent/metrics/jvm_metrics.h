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
#include "agent/calls/path_metrics.h"
#include "agent/events/io_calls.h"
#include "agent/jvm/java_thread_layout.h"
#include "agent/jvm/thread_fields.h"
#include "agent/jvm/thread_table.h"
#include "agent/metrics/counted_events.h"
#include "agent/metrics/kernel_events.h"
#include "agent/metrics/object_sources.h"
#include "agent/metrics/thread_counters.h"

namespace jtrace::metrics {

class JvmMetrics : public calls::CounterKeeper {
 public:
  JvmMetrics(JavaVM* vm, const jvm::JavaThreadLayout& layout, jvm::ThreadTable& threads)
      : layout_(layout),
        io_(vm),
        counters_(layout.allocated, threads),
        sources_(vm, io_, counters_),
        objects_(vm, counters_) {}
  static JvmMetrics* Create(JavaVM* vm, jvm::ThreadTable& threads);

  ThreadCounters& counters() { return counters_; }
  events::IoCalls& io() { return io_; }
  // Whether Java can access them.
  bool is_defined() const { return is_defined_; }

  // In VMInit or later: the program can query metrics. Reports what the JVM refuses as a loss.
  void Define(JNIEnv* jni, Losses& losses);
  // Whether probes can charge metrics to call paths; prepares the functions that they call. False:
  // a loss says why.
  bool CanCharge(JNIEnv* jni, Losses& losses) const;

  // The numbers of metrics by name; creates user counters.
  absl::StatusOr<std::vector<uint32_t>> Numbers(const std::vector<std::string>& names);

  // A recording of these metrics, by number, will begin. At load, when no thread of the program
  // runs.
  void Prepare(const std::vector<uint32_t>& metrics);
  // A recording of these metrics, by number, begins. `live`: running threads have counted before.
  // Reports metrics that cannot be counted as losses.
  // `has_trees`: the threads' trees know call paths.
  void Begin(const std::vector<uint32_t>& metrics, bool live, bool has_trees, Losses& losses);
  // Stops counting, and reports what was not counted. The counts can still be queried until End.
  void StopSources(Losses& losses);
  void End();
  // Virtual threads are distinguished from their carriers from here on.
  void FollowVirtualThreads() { sources_.FollowVirtualThreads(); }

  // Objects by the call path that allocated them, between Begin and End.
  const ObjectPaths& object_paths() { return objects_.paths(); }

  // Those of `metrics` that the probes charge.
  calls::PathMetrics PathMetricsOf(const std::vector<uint32_t>& metrics) const;
  // A thread's counts since it was last charged; 0 for ended threads. Any thread.
  calls::MetricValues SinceCharged(const calls::PathMetrics& metrics,
                                   const signal_safe::ThreadState& state) const;
  // Of a number of PathMetrics: "alloc.bytes", "elapsed.alloc.bytes".
  std::string NameOf(uint8_t number) const;

  // Callbacks.
  void ThreadStart(JNIEnv* jni, jthread thread);
  // A thread that ran before the agent was loaded, as seen from any other thread.
  void Adopt(JNIEnv* jni, jthread thread);
  // First of all: the thread's call paths get what the kernel has counted.
  void ThreadEnding() { kernel_events_.Detach(); }
  void ThreadEnd() { counters_.End(); }
  void VirtualThreadEnd(uint64_t java_tid) { counters_.EndVirtual(java_tid); }
  // Inside a safepoint.
  void GcStart(uint64_t now_ns) { gc_began_ = now_ns; }
  void GcFinish(uint64_t now_ns);

  // Counts the calling thread, which is `thread`, from here on. False: no memory.
  bool RegisterThread(JNIEnv* jni, jthread thread);
  // Of a thread that may have started before anything was counted.
  absl::StatusOr<int64_t> TotalOf(JNIEnv* jni, jthread thread, uint32_t metric);

  // CounterKeeper
  signal_safe::CounterBlock* BlockOf(uint64_t java_tid, bool is_virtual,
                                     uint64_t java_thread) override;
  bool RanBefore(const signal_safe::CounterBlock& block) const override;
  absl::StatusOr<int64_t> Own(uint32_t metric) override { return counters_.Own(metric); }
  const signal_safe::AllocLayout& layout() const override { return layout_.allocated; }

 private:
  void CheckAllocations(JNIEnv* jni, Losses& losses);

  jvm::JavaThreadLayout layout_;
  bool allocations_checked_ = false;
  events::IoCalls io_;
  ThreadCounters counters_;
  CountedEvents sources_;
  KernelEvents kernel_events_;
  ObjectSources objects_;
  std::atomic<bool> live_{false};
  std::atomic<uint64_t> began_ns_{0};
  uint64_t gc_began_ = 0;
  bool is_defined_ = false;
  jvm::ThreadFields fields_;
};

}  // namespace jtrace::metrics
