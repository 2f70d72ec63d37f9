#include "agent/metrics/metrics_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "agent/metrics/wrap_add.h"

namespace jtrace::metrics {
namespace {

// The kernel reports it by thread, in files that are gone once the thread has ended.
bool IsUnknownOfEnded(uint32_t metric) {
  return metric == static_cast<uint32_t>(Metric::kReadBytes) ||
         metric == static_cast<uint32_t>(Metric::kWrittenBytes);
}

// A virtual thread has no kernel thread that could be measured.
bool IsKnownOf(const ThreadValues& thread, uint32_t metric) {
  if (IsUser(metric) || thread.os_tid != 0) return true;
  const MetricInfo& info = InfoOf(static_cast<Metric>(metric));
  return info.source != Source::kKernel || info.metric == Metric::kWall;
}

ReportedMetric Describe(const MetricInfo& info) {
  return {.number = static_cast<uint32_t>(info.metric),
          .name = std::string(info.name),
          .unit = std::string(info.unit),
          .what = std::string(info.what),
          .may_fall = IsLevel(info.metric),
          .by_thread = info.reach != Reach::kProcess};
}

// Those that have an answer now; what only the call trees know is in traces.
std::vector<ReportedMetric> Counted(const ThreadCounters& counters) {
  std::vector<ReportedMetric> counted;
  for (const MetricInfo& info : AllMetrics()) {
    if (info.source != Source::kTree) counted.push_back(Describe(info));
  }
  uint32_t number = kFirstUser;
  for (const UserCounter& user : counters.users().All()) {
    counted.push_back({.number = number++,
                       .name = user.name,
                       .unit = user.unit,
                       .what = "counted by the program",
                       .may_fall = true,
                       .by_thread = user.counting == Counting::kByThread});
  }
  std::erase_if(counted,
                [&](ReportedMetric& metric) { return !counters.Check(metric.number).ok(); });
  return counted;
}

// The place of the metric by which threads are busy.
size_t BusyColumn(const std::vector<ReportedMetric>& metrics) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [](const ReportedMetric& it) {
    return it.number == static_cast<uint32_t>(Metric::kCpu);
  });
  return static_cast<size_t>(found - metrics.begin());
}

void SortByBusiness(MetricsReport& report) {
  const size_t busy = BusyColumn(report.metrics);
  const auto key = [busy](const ReportedThread& thread) {
    const int64_t value = busy < thread.values.size() ? thread.values[busy].value_or(0) : 0;
    return std::tuple(-value, std::cref(thread.name).get(), thread.java_tid);
  };
  std::sort(report.threads.begin(), report.threads.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

}  // namespace

MetricsReport CollectMetrics(
    const ThreadCounters& counters,
    absl::FunctionRef<std::optional<std::string>(const ThreadValues&)> name_of) {
  MetricsReport report = {.pid = getpid(), .metrics = Counted(counters)};
  const ThreadCounters::Ended ended = counters.AllEnded();
  report.ended_threads = ended.java_threads;
  uint64_t mask = 0;
  for (ReportedMetric& metric : report.metrics) {
    mask |= 1ull << metric.number;
    const bool is_known = metric.by_thread && !IsUnknownOfEnded(metric.number);
    if (is_known) metric.ended = ended.values[metric.number];
  }
  for (const ThreadValues& thread : counters.Live(mask)) {
    std::optional<std::string> name = name_of(thread);
    if (!name) continue;
    ReportedThread row = {.name = *std::move(name),
                          .java_tid = thread.java_tid,
                          .os_tid = thread.os_tid,
                          .is_partial = thread.is_partial};
    for (const ReportedMetric& metric : report.metrics) {
      const bool is_known = metric.by_thread && IsKnownOf(thread, metric.number);
      row.values.push_back(is_known ? std::optional(thread.values[metric.number]) : std::nullopt);
    }
    report.threads.push_back(std::move(row));
  }
  // Behind the threads, so that it is no less than their sum.
  for (ReportedMetric& metric : report.metrics) {
    metric.process = counters.Process(metric.number).value_or(0);
  }
  SortByBusiness(report);
  return report;
}

void SumThreadsBeyond(size_t most, MetricsReport& report) {
  if (report.threads.size() <= most) return;
  report.more_threads = report.threads.size() - most;
  report.more.resize(report.metrics.size());
  for (size_t i = most; i < report.threads.size(); ++i) {
    const std::vector<std::optional<int64_t>>& values = report.threads[i].values;
    for (size_t metric = 0; metric < values.size(); ++metric) {
      if (!values[metric]) continue;
      report.more[metric] = WrapAdd(report.more[metric].value_or(0), *values[metric]);
    }
  }
  report.threads.resize(most);
}

}  // namespace jtrace::metrics
