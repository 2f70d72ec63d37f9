// The exact calls of one recording: its probes, their counters, and the source that writes them.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "agent/calls/instrument/instrumentation.h"
#include "agent/calls/tree_source.h"
#include "agent/jvm/class_registry.h"
#include "agent/metrics/tree_windows.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/samples/switch_source.h"
#include "agent/trace/chunk_source.h"

namespace jtrace {

// The collectors belong to JvmParts::probe_sets and are never freed; everything else here ends with
// the recording.
class CallCounting {
 public:
  // `metrics`: charged to call paths.
  CallCounting(JvmParts& jvm, calls::PathMetrics metrics)
      : jvm_(jvm), path_metrics_(std::move(metrics)) {}

  // Thread switches that the kernel records, for logs. Before Start.
  void UseSwitches(samples::SwitchSource* switches) { switches_ = switches; }
  // Defines or reuses the probes that `options` request, and begins to count. Fills in
  // options.memory_bytes if it is 0.
  absl::Status Start(JNIEnv* jni, Options& options, calls::Instrumentation& instrumentation);
  // Resting probes begin to count.
  void Open();
  // They rest again: what is written from now on is complete.
  void Rest();
  // No recording uses the probes any more.
  void Idle();
  // overflow=wait: the writer is about to run, so threads may wait for room in their logs.
  void LetThreadsWait();
  // The writer failed: no thread waits for room in its log any longer. Any thread.
  void EndWaits();

  // The method runs compiled from now on. Any thread.
  void SetCompiled(jmethodID method);
  // The trace's number of the node that a sample belongs to. On the writer's thread.
  uint32_t TreePosition(uint64_t raw_node, jvm::MethodKey innermost,
                        const calls::Instrumentation& instrumentation) const;

  // Null before Start.
  trace::ChunkSource* source() const { return source_.get(); }
  // Null: the recording keeps no call trees (record=flat, record=log).
  metrics::TreeWindows* windows() const { return windows_.get(); }
  bool has_trees() const { return trees_ != nullptr; }
  const calls::PathMetrics& path_metrics() const { return path_metrics_; }
  // With has_trees: see TreeCollector.
  uint32_t NewNodeNumber() const { return trees_->NewNumber(); }
  bool is_started() const { return probes_ != nullptr; }
  // Whether interpreted and compiled calls are both recorded; calls() has all of them.
  bool records_all() const { return records_all_; }
  // Where a node's calls are from; null: calls are not distinguished by that.
  calls::CallPlaceOf CallPlaces(const Options& options) const;
  // Since the recording's start, and in its current file.
  uint64_t calls() const;
  uint64_t file_calls() const;
  uint64_t memory_bytes() const;

 private:
  // Restarts counting, for routine numbers below `routines`. The source writes the counts.
  std::unique_ptr<trace::ChunkSource> BeginCounting(const Options& options, uint32_t routines);
  // Reports the fallback for a clock that is unavailable.
  void ReportClock(const Options& options);

  JvmParts& jvm_;
  calls::PathMetrics path_metrics_;
  calls::Probes* probes_ = nullptr;
  calls::TreeCollector* trees_ = nullptr;   // record=tree, record=log
  calls::FlatCollector* counts_ = nullptr;  // record=flat
  calls::LogCollector* logs_ = nullptr;     // record=log
  samples::SwitchSource* switches_ = nullptr;
  bool records_all_ = true;
  std::unique_ptr<trace::ChunkSource> source_;
  std::unique_ptr<metrics::TreeWindows> windows_;
};

}  // namespace jtrace
