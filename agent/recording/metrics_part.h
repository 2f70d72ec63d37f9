// The metrics of a recording (S5, metrics by thread): which of them the probes charge to call
// paths, and what writes the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "agent/calls/path_metrics.h"
#include "agent/calls/tree_source.h"
#include "agent/metrics/live_objects_source.h"
#include "agent/metrics/metric_source.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_parts.h"
#include "agent/recording/recording_part.h"

namespace jtrace {

class MetricsPart : public RecordingPart {
 public:
  MetricsPart(JvmParts& jvm, const Options& options) : jvm_(jvm), options_(options) {}

  absl::Status Prepare() override;
  absl::Status Start(JNIEnv* jni) override;
  void Run() override;
  std::vector<trace::ChunkSource*> sources() override;
  void StopListening() override;
  void CleanUp(JNIEnv* jni) override;

  // Those that the probes charge to call paths; none without call trees. After Start.
  const calls::PathMetrics& path_metrics() const { return path_metrics_; }
  // Writes live objects by the call path that allocated them; null: the recording has no such
  // metric. `next_node`: the number of a node that the trees do not have.
  std::unique_ptr<metrics::LiveObjectsSource> LiveObjects(std::function<uint32_t()> next_node,
                                                          calls::FindCallSite find_call_site) const;

 private:
  // A metric of live objects, which call trees have.
  bool IsByObject(uint32_t metric) const;

  JvmParts& jvm_;
  const Options& options_;
  std::vector<uint32_t> numbers_;
  calls::PathMetrics path_metrics_;
  std::unique_ptr<metrics::MetricSource> by_thread_;
};

}  // namespace jtrace
