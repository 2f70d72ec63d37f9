#include "agent/recording/metrics_part.h"

#include <algorithm>
#include <utility>

#include "agent/metrics/metric.h"
#include "agent/recording/probe_settings.h"

namespace jtrace {

absl::Status MetricsPart::Prepare() {
  auto numbers = metrics_.Numbers(RecordedMetrics(options_));
  if (!numbers.ok()) return numbers.status();
  numbers_ = *std::move(numbers);
  metrics_.Prepare(numbers_);
  return absl::OkStatus();
}

absl::Status MetricsPart::Start(JNIEnv* jni) {
  metrics_.Begin(numbers_, jvm_.program_runs.load(), HasTrees(options_), jvm_.trace.losses);
  if (HasTrees(options_)) path_metrics_ = metrics_.PathMetricsOf(numbers_);
  if (!path_metrics_.empty() && !metrics_.CanCharge(jni, jvm_.trace.losses)) {
    path_metrics_ = calls::PathMetrics();
  }
  return absl::OkStatus();
}

bool MetricsPart::IsByObject(uint32_t metric) const {
  return HasTrees(options_) && (metrics::kTaggedObjectMetrics >> metric & 1) != 0;
}

void MetricsPart::Run() {
  std::vector<uint32_t> by_thread;
  const std::vector<uint8_t>& charged = path_metrics_.numbers;
  for (const uint32_t metric : numbers_) {
    const bool is_charged = std::ranges::find(charged, metric) != charged.end();
    if (is_charged || metrics::IsElapsed(metric) || IsByObject(metric)) continue;
    by_thread.push_back(metric);
  }
  if (by_thread.empty()) return;
  by_thread_ = std::make_unique<metrics::ThreadTotalsSource>(
      metrics_, std::move(by_thread), jvm_.program_runs.load(), jvm_.registries.groups,
      jvm_.trace.encoder);
}

std::unique_ptr<metrics::LiveObjectsSource> MetricsPart::LiveObjects(
    std::function<uint32_t()> next_node, calls::FindCallSite find_call_site) const {
  std::vector<metrics::Metric> by_object;
  for (const uint32_t metric : numbers_) {
    if (IsByObject(metric)) by_object.push_back(static_cast<metrics::Metric>(metric));
  }
  if (by_object.empty()) return nullptr;
  return std::make_unique<metrics::LiveObjectsSource>(
      metrics_.object_paths(), jvm_.registries.threads, jvm_.registries.groups, jvm_.trace.encoder,
      jvm_.trace.losses,
      metrics::LiveObjectsSource::Settings{.metrics = std::move(by_object),
                                           .next_node = std::move(next_node),
                                           .find_call_site = std::move(find_call_site)});
}

std::vector<trace::ChunkSource*> MetricsPart::sources() {
  if (by_thread_ == nullptr) return {};
  return {by_thread_.get()};
}

void MetricsPart::StopListening() { metrics_.StopSources(jvm_.trace.losses); }

void MetricsPart::CleanUp(JNIEnv*) { metrics_.End(); }

}  // namespace jtrace
