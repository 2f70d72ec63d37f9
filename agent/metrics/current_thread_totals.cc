#include "agent/metrics/current_thread_totals.h"

#include <errno.h>
#include <sys/resource.h>

#include "agent/base/clock.h"
#include "agent/metrics/counter_numbers.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "agent/signal_safe/metric_counts.h"

namespace jtrace::metrics {
using signal_safe::MetricCounts;

[[gnu::tls_model("initial-exec")]] constinit thread_local MetricCounts* tls_metric_counts = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local MetricCounts* tls_platform_metric_counts =
    nullptr;

bool CurrentThreadTotals::IsPerKernelThread(uint32_t metric) {
  return !IsUser(metric) && metric != static_cast<uint32_t>(Metric::kWall) &&
         InfoOf(static_cast<Metric>(metric)).origin == MetricOrigin::kKernel;
}

Availability CurrentThreadTotals::AvailabilityOf(uint32_t metric) const {
  if (IsUser(metric)) return users_.Has(metric) ? Availability::kYes : Availability::kNoMetric;
  if (metric >= AllMetrics().size()) return Availability::kNoMetric;
  const MetricInfo& info = InfoOf(static_cast<Metric>(metric));
  const bool counted = (counted_.load(std::memory_order_relaxed) >> metric & 1) != 0;
  if (info.origin == MetricOrigin::kCounted && !counted) return Availability::kNotCounted;
  const bool is_reported = info.origin != MetricOrigin::kJavaThread || layout_.allocated_bytes != 0;
  return is_reported ? Availability::kYes : Availability::kUnsupported;
}

Availability CurrentThreadTotals::AvailabilityForThreads(uint32_t metric) const {
  if (const Availability availability = AvailabilityOf(metric); availability != Availability::kYes)
    return availability;
  if (IsUser(metric)) {
    return users_.IsByProcessor(metric) ? Availability::kProcessOnly : Availability::kYes;
  }
  const MetricInfo& info = InfoOf(static_cast<Metric>(metric));
  if (info.reach == Reach::kProcess) return Availability::kProcessOnly;
  return info.origin == MetricOrigin::kTree ? Availability::kTreesOnly : Availability::kYes;
}

Availability CurrentThreadTotals::AvailabilityForProcess(uint32_t metric) const {
  if (const Availability availability = AvailabilityOf(metric);
      availability != Availability::kYes || IsUser(metric))
    return availability;
  const bool is_tree = InfoOf(static_cast<Metric>(metric)).origin == MetricOrigin::kTree;
  return is_tree ? Availability::kTreesOnly : Availability::kYes;
}

Availability CurrentThreadTotals::Read(uint32_t metric, int64_t& value) const {
  if (const Availability availability = AvailabilityForThreads(metric);
      availability != Availability::kYes)
    return availability;
  const MetricCounts* const block = tls_metric_counts;
  if (block == nullptr) return Availability::kUnknownThread;
  if (block->os_tid == 0 && IsPerKernelThread(metric)) return Availability::kVirtualThread;
  const int saved_errno = errno;
  bool is_reported = true;
  value = ReadBlock(layout_, *block, metric, [&](Metric it) {
    const signal_safe::AgentWorkScope own;
    const std::optional<int64_t> read = ReadCurrentThreadFast(it);
    is_reported = read.has_value();
    return read.value_or(0);
  });
  errno = saved_errno;
  return is_reported ? Availability::kYes : Availability::kNotInHandlers;
}

Availability CurrentThreadTotals::Add(uint32_t metric, int64_t delta) {
  if (!users_.Has(metric)) return Availability::kNoMetric;
  if (users_.IsByProcessor(metric)) {
    users_.by_processor().Add(metric - kFirstUser, delta);
    return Availability::kYes;
  }
  MetricCounts* const block = tls_metric_counts;
  if (block == nullptr) return Availability::kUnknownThread;
  signal_safe::Count(*block, metric, delta);
  return Availability::kYes;
}

std::optional<int64_t> ReadCurrentThreadFast(Metric metric) {
  if (metric == Metric::kCpu) return static_cast<int64_t>(CurrentThreadCpuNanos());
  if (metric != Metric::kSwitches && metric != Metric::kPageFaults) return std::nullopt;
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return std::nullopt;
  if (metric == Metric::kSwitches) return usage.ru_nvcsw + usage.ru_nivcsw;
  return usage.ru_minflt + usage.ru_majflt;
}

}  // namespace jtrace::metrics
