// The metrics of a recording (S5): which of them the probes charge to call paths, and what writes
// the others, by thread or by live object.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "agent/calls/trees/path_metrics.h"
#include "agent/calls/trees/tree_source.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/metrics/live_objects_source.h"
#include "agent/metrics/thread_totals_source.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_state.h"
#include "agent/recording/recording_part.h"

namespace jtrace {

class MetricsPart : public RecordingPart {
 public:
  MetricsPart(JvmState& jvm, metrics::JvmMetrics& metrics, const Options& options)
      : jvm_(jvm), metrics_(metrics), options_(options) {}

  absl::Status Prepare() override;
  absl::Status Start(JNIEnv* jni) override;
  void Run() override;
  std::vector<trace::ChunkSource*> sources() override;
  void StopListening() override;
  void CleanUp(JNIEnv* jni) override;

  metrics::JvmMetrics& metrics() const { return metrics_; }
  // The metrics that the probes charge to call paths; none without call trees. After Start.
  const calls::PathMetrics& path_metrics() const { return path_metrics_; }
  // Returns the source of live objects by the call path that allocated them; null: the recording
  // has no such metric. `next_node`: returns the number of a node that the trees do not have.
  std::unique_ptr<metrics::LiveObjectsSource> LiveObjects(std::function<uint32_t()> next_node,
                                                          calls::FindCallSite find_call_site) const;

 private:
  // Whether the metric is one of live objects, and is kept by call path.
  bool IsByObject(uint32_t metric) const;

  JvmState& jvm_;
  metrics::JvmMetrics& metrics_;
  const Options& options_;
  std::vector<uint32_t> numbers_;
  calls::PathMetrics path_metrics_;
  std::unique_ptr<metrics::ThreadTotalsSource> by_thread_;
};

}  // namespace jtrace
