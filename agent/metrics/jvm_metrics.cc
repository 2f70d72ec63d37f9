#include "agent/metrics/jvm_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/base/clock.h"

namespace jtrace::metrics {
namespace {

uint64_t Bits(const std::vector<uint32_t>& metrics) {
  uint64_t bits = 0;
  for (const uint32_t metric : metrics) bits |= IsElapsed(metric) ? 0 : 1ull << metric;
  return bits;
}

bool IsCharged(uint32_t metric) {
  // User counters are charged, and so is elapsed.NAME, whose numbers are above theirs.
  if (metric >= kFirstUser) return true;
  return IsChargedToPaths(InfoOf(static_cast<Metric>(metric)));
}

}  // namespace

JvmMetrics* JvmMetrics::Create(JavaVM* vm, jvm::ThreadTable& threads) {
  return new JvmMetrics(
      vm, jvm::ReadJavaThreadLayout(reinterpret_cast<const void*>(vm->functions->GetEnv)), threads);
}

void JvmMetrics::CheckAllocations(JNIEnv* jni, Losses& losses) {
  if (std::exchange(allocations_checked_, true) || layout_.allocated.allocated_bytes == 0) return;
  if (jvm::CountsAllocations(jni, layout_.allocated)) return;
  layout_.allocated = {};
  counters_.ForgetAllocations();
  losses.Add("jvm.allocation", Severity::kWarning, 1,
             "part of this JVM that is not as its tables say (the bytes that a thread has "
             "allocated): alloc.bytes is unknown",
             "use an OpenJDK from 11 to 27");
}

void JvmMetrics::Define(JNIEnv* jni, Losses& losses) {
  CheckAllocations(jni, losses);
  const absl::Status status = calls::DefineCounters(jni, this);
  is_defined_ = status.ok();
  if (is_defined_) return;
  losses.Add("metrics.no_queries", Severity::kWarning, 1, status.message());
}

bool JvmMetrics::CanCharge(JNIEnv* jni, Losses& losses) const {
  if (!is_defined_) return false;
  const absl::Status status = calls::InitializeCounters(jni);
  if (!status.ok()) losses.Add("metrics.no_paths", Severity::kWarning, 1, status.message());
  return status.ok();
}

absl::StatusOr<std::vector<uint32_t>> JvmMetrics::Numbers(const std::vector<std::string>& names) {
  std::vector<uint32_t> numbers;
  for (absl::string_view name : names) {
    const uint32_t elapsed = absl::ConsumePrefix(&name, kElapsedPrefix) ? signal_safe::kElapsed : 0;
    if (const std::optional<Metric> metric = FindMetric(name)) {
      numbers.push_back(static_cast<uint32_t>(*metric) + elapsed);
      continue;
    }
    const auto user = counters_.users().Register(absl::StripPrefix(name, "user."), "");
    if (!user.ok()) return user.status();
    numbers.push_back(*user + elapsed);
  }
  if (static_cast<size_t>(std::count_if(numbers.begin(), numbers.end(), IsCharged)) >
      signal_safe::kMaxPathMetrics) {
    return absl::InvalidArgumentError(absl::StrCat("option 'metrics': at most ",
                                                   signal_safe::kMaxPathMetrics,
                                                   " metrics that are charged to call paths"));
  }
  return numbers;
}

void JvmMetrics::Prepare(const std::vector<uint32_t>& metrics) {
  event_counter_.Prepare(Bits(metrics));
  objects_.Prepare(Bits(metrics));
}

void JvmMetrics::Begin(const std::vector<uint32_t>& metrics, bool live, bool has_trees,
                       Losses& losses) {
  live_.store(live);
  began_ns_.store(MonotonicNanos());
  const uint64_t wanted = Bits(metrics);
  std::string refused;
  const uint64_t of_kernel = perf_events_.Start(wanted, refused);
  counters_.SetCounted(event_counter_.Start(wanted) | objects_.Start(wanted, has_trees) |
                       of_kernel | (wanted & kProbeMetrics) | Bit(Metric::kGc));
  for (const uint32_t metric : metrics) {
    if (IsElapsed(metric) || counters_.Check(metric).ok()) continue;
    const std::string name = counters_.NameOf(metric);
    if ((Bit(static_cast<Metric>(metric)) & kPerfEventMetrics) != 0) {
      losses.Add(absl::StrCat("metrics.", name), Severity::kWarning, 1,
                 absl::StrCat("metric that needs the kernel's events: ", name), refused);
      continue;
    }
    losses.Add(absl::StrCat("metrics.", name), Severity::kWarning, 1,
               absl::StrCat("metric that this JVM does not report: ", name),
               live ? "load the agent with -agentpath instead of attaching it" : "");
  }
  const bool has_paths = has_trees && (wanted & kTaggedObjectMetrics) != 0;
  if (has_paths || std::any_of(metrics.begin(), metrics.end(), IsCharged)) FollowVirtualThreads();
}

void JvmMetrics::StopSources(Losses& losses) {
  perf_events_.Stop();
  event_counter_.Stop();
  objects_.Stop();
  losses.Set("metrics.path.unattached", Severity::kWarning, perf_events_.unattached(),
             "kernel's events of threads without a descriptor: path.* metrics lack them",
             "raise ulimit -n");
}

void JvmMetrics::End() {
  counters_.SetCounted(0);
  objects_.Forget();
}

calls::PathMetrics JvmMetrics::PathMetricsOf(const std::vector<uint32_t>& metrics) const {
  calls::PathMetrics chosen = {.numbers = {}, .layout = layout_.allocated};
  for (const uint32_t metric : metrics) {
    const bool is_known =
        metric % signal_safe::kElapsed != static_cast<uint32_t>(Metric::kAllocBytes) ||
        layout_.allocated.allocated_bytes != 0;
    if (IsCharged(metric) && is_known && chosen.numbers.size() < signal_safe::kMaxPathMetrics) {
      chosen.numbers.push_back(static_cast<uint8_t>(metric));
    }
  }
  // alloc.bytes is always first, regardless of the order of names.
  std::sort(chosen.numbers.begin(), chosen.numbers.end());
  return chosen;
}

calls::MetricValues JvmMetrics::SinceCharged(const calls::PathMetrics& metrics,
                                             const signal_safe::ThreadState& state) const {
  calls::MetricValues values = {};
  counters_.WithLive(state.java_tid, [&](const signal_safe::MetricCounts&) {
    values = calls::SinceCharged(metrics, state);
  });
  return values;
}

std::string JvmMetrics::NameOf(uint8_t number) const {
  return absl::StrCat(IsElapsed(number) ? kElapsedPrefix : "",
                      counters_.NameOf(number % signal_safe::kElapsed));
}

void JvmMetrics::ThreadStart(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_tid == 0) return;
  counters_.Start(identity.java_tid, identity.java_thread, /*is_partial=*/false);
  perf_events_.Attach(gettid());
}

void JvmMetrics::GcFinish(uint64_t now_ns) {
  if (gc_began_ == 0) return;
  counters_.AddToProcess(static_cast<uint32_t>(Metric::kGc),
                         static_cast<int64_t>(now_ns - gc_began_));
  gc_began_ = 0;
}

void JvmMetrics::Adopt(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_thread == 0) return;
  const pid_t os_tid = jvm::OsThreadIdOf(layout_, identity.java_thread);
  counters_.Adopt(identity.java_tid, os_tid, identity.java_thread);
  if (os_tid > 0) perf_events_.Attach(os_tid);
}

bool JvmMetrics::RegisterThread(JNIEnv* jni, jthread thread) {
  const jvm::ThreadIdentity identity = fields_.Of(jni, thread);
  if (identity.java_tid == 0) return false;
  const bool is_virtual = identity.java_thread == 0;
  return CountsOfThread(identity.java_tid, is_virtual, identity.java_thread) != nullptr;
}

absl::StatusOr<int64_t> JvmMetrics::TotalOf(JNIEnv* jni, jthread thread, uint32_t metric) {
  Adopt(jni, thread);
  return counters_.Of(fields_.JavaTid(jni, thread), metric);
}

signal_safe::MetricCounts* JvmMetrics::CountsOfThread(uint64_t java_tid, bool is_virtual,
                                                      uint64_t java_thread) {
  if (is_virtual) event_counter_.FollowVirtualThreads();
  return counters_.CountsOfThread(java_tid, is_virtual, java_thread);
}

bool JvmMetrics::RanBeforeRecording(const signal_safe::MetricCounts& block) const {
  return live_.load() && (block.is_partial != 0 || block.start_ns < began_ns_.load());
}

}  // namespace jtrace::metrics
