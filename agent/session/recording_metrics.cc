#include "agent/session/recording_metrics.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "agent/metrics/metric.h"
#include "agent/session/recording_settings.h"

namespace jtrace {
namespace {

std::unique_ptr<trace::LivesSource> MakeLivesSource(RecordingParts& parts,
                                                    std::vector<metrics::Metric> lives) {
  return std::make_unique<trace::LivesSource>(
      parts.jvm.metrics->object_paths(), parts.jvm.registries.threads, parts.jvm.registries.groups,
      parts.jvm.trace.encoder, parts.jvm.trace.losses,
      trace::LivesSource::Settings{.metrics = std::move(lives),
                                   .next_node = [&parts] { return parts.calls->NewNodeNumber(); },
                                   .places = parts.calls->CallPlaces(parts.options)});
}

}  // namespace

bool HasTrees(const Options& options) {
  return options.WantsEvents() && options.record == RecordKind::kTree;
}

absl::Status PrepareMetrics(RecordingParts& parts) {
  auto numbers = parts.jvm.metrics->Numbers(RecordedMetrics(parts.options));
  if (!numbers.ok()) return numbers.status();
  parts.metric_numbers = *std::move(numbers);
  parts.jvm.metrics->Prepare(parts.metric_numbers);
  parts.calls = std::make_unique<CallCounting>(
      parts.jvm, HasTrees(parts.options) ? parts.jvm.metrics->PathMetricsOf(parts.metric_numbers)
                                         : PathMetrics());
  return absl::OkStatus();
}

void MakeMetricSources(RecordingParts& parts) {
  const std::vector<uint8_t>& charged = parts.calls->path_metrics().numbers;
  std::vector<uint32_t> by_thread;
  std::vector<metrics::Metric> lives;
  for (const uint32_t metric : parts.metric_numbers) {
    const bool is_charged = std::find(charged.begin(), charged.end(), metric) != charged.end();
    if (is_charged || metrics::IsElapsed(metric)) continue;
    if (HasTrees(parts.options) && (metrics::kLives >> metric & 1) != 0) {
      lives.push_back(static_cast<metrics::Metric>(metric));
    } else {
      by_thread.push_back(metric);
    }
  }
  if (!lives.empty()) parts.lives_source = MakeLivesSource(parts, std::move(lives));
  if (by_thread.empty()) return;
  parts.metric_source = std::make_unique<trace::MetricSource>(
      *parts.jvm.metrics, std::move(by_thread), parts.jvm.is_live.load(),
      parts.jvm.registries.groups, parts.jvm.trace.encoder);
}

}  // namespace jtrace
