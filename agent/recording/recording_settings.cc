#include "agent/recording/recording_settings.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "agent/base/machine_memory.h"
#include "agent/jvm/jvm_flags.h"
#include "agent/metrics/metric.h"
#include "agent/samples/timers.h"
#include "agent/signal_safe/position.h"

namespace jtrace {
namespace {

samples::TimerKind TimerKindOf(Timer timer) {
  switch (timer) {
    case Timer::kCpu:
      return samples::TimerKind::kAuto;
    case Timer::kWall:
      return samples::TimerKind::kWall;
    case Timer::kPerf:
      return samples::TimerKind::kEvent;
  }
  return samples::TimerKind::kAuto;
}

std::unique_ptr<metrics::LiveObjectsSource> MakeLiveObjectsSource(
    RecordingParts& parts, std::vector<metrics::Metric> lives) {
  return std::make_unique<metrics::LiveObjectsSource>(
      parts.jvm.metrics->object_paths(), parts.jvm.registries.threads, parts.jvm.registries.groups,
      parts.jvm.trace.encoder, parts.jvm.trace.losses,
      metrics::LiveObjectsSource::Settings{
          .metrics = std::move(lives),
          .next_node = [&parts] { return parts.calls->NewNodeNumber(); },
          .places = parts.calls->CallPlaces(parts.options)});
}

}  // namespace

// A thread's ring holds about 500 samples with stacks of usual depth; its log's ring holds half a
// million events.
absl::Duration PollPeriod(const Options& options) {
  constexpr int kSamplesBetweenPolls = 150;
  if (options.WantsEvents() && options.record == RecordKind::kLog) return absl::Milliseconds(5);
  const bool unwinds_hooks = std::any_of(options.hooks.begin(), options.hooks.end(),
                                         [](const native_hooks::HookSpec& spec) {
                                           return spec.kind == native_hooks::HookKind::kUnwind;
                                         });
  if (!options.unwinds.empty() || unwinds_hooks) return absl::Milliseconds(5);
  // The rate of an event is unknown.
  if (options.samples.period != 0) return absl::Milliseconds(10);
  // With samples= the recording is to end soon after that many.
  const auto longest = absl::Milliseconds(options.most_samples != 0 ? 10 : 100);
  return std::clamp(options.samples.interval * kSamplesBetweenPolls, absl::Milliseconds(5),
                    longest);
}

bool NeedsAppScope(const Options& options) {
  return options.WantsSamples() && (options.samples.stack == samples::StackMode::kApp ||
                                    options.samples.stack == samples::StackMode::kAppFrame);
}

bool NumbersMethodsLater(const Options& options) { return !options.codes.Has(Code::kClassMethod); }

samples::SamplerOptions SamplerOptionsOf(const Options& options) {
  samples::SamplerOptions result;
  result.interval = std::chrono::nanoseconds(absl::ToInt64Nanoseconds(options.samples.interval));
  result.timer = TimerKindOf(options.samples.timer);
  result.event = options.samples.event;
  result.period = options.samples.period;
  result.jitter = options.samples.jitter;
  result.stack = options.samples.stack;
  if (options.signal != 0) result.signal = options.signal;
  if (options.WantsEvents() && options.record != RecordKind::kFlat) {
    result.read_position = &signal_safe::ReadPosition;
  }
  return result;
}

signal_safe::ProbeClock ProbeClockOf(Clock clock) {
  switch (clock) {
    case Clock::kNone:
      return signal_safe::ProbeClock::kNone;
    case Clock::kCoarse:
    case Clock::kManual:
      return signal_safe::ProbeClock::kCoarse;
    case Clock::kTsc:
      return signal_safe::ProbeClock::kTsc;
    case Clock::kCpu:
      return signal_safe::ProbeClock::kCpu;
  }
  return signal_safe::ProbeClock::kNone;
}

void ChooseTreeMemory(JvmParts& jvm, JNIEnv* jni, Options& options) {
  if (options.memory_bytes != 0) return;
  if (jvm.tree_memory == 0) {
    jvm.tree_memory = DefaultTreeMemory(AvailableMemory(), jvm::MaxHeap(jni));
  }
  options.memory_bytes = jvm.tree_memory;
}

calls::ProbeOptions ProbeOptionsOf(const Options& options) {
  // The log's reader follows each thread's position, so its nodes must not be pruned or folded.
  const bool is_log = options.record == RecordKind::kLog;
  // The rest is for trees of groups, rings and names.
  return {.flat = options.record == RecordKind::kFlat,
          .memory_limit = options.memory_bytes / 4 * 3,
          .log = is_log,
          .clock = ProbeClockOf(options.clock),
          .clock_ticks = options.clock != Clock::kManual,
          .max_depth = options.max_depth,
          .blocks = options.blocks != Blocks::kOff,
          .path_blocks = options.blocks == Blocks::kByPath,
          .places = options.sites,
          .prune_percent = is_log ? 0 : options.prune_percent,
          .exit_percent = options.exit_percent,
          .resting = options.probes_rest};
}

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
                                         : calls::PathMetrics());
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
  if (!lives.empty()) parts.live_objects_source = MakeLiveObjectsSource(parts, std::move(lives));
  if (by_thread.empty()) return;
  parts.metric_source = std::make_unique<metrics::MetricSource>(
      *parts.jvm.metrics, std::move(by_thread), parts.jvm.is_live.load(),
      parts.jvm.registries.groups, parts.jvm.trace.encoder);
}

}  // namespace jtrace
