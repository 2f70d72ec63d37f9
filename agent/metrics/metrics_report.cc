#include "agent/metrics/metrics_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/metrics/counter_numbers.h"
#include "common/json_writer.h"
#include "common/utf8.h"
#include "common/visible_text.h"

namespace jtrace::metrics {
namespace {

// Returns whether the kernel reports the metric in a file of the thread, which is gone once the
// thread has ended.
bool IsUnknownOfEnded(uint32_t metric) {
  return metric == static_cast<uint32_t>(Metric::kReadBytes) ||
         metric == static_cast<uint32_t>(Metric::kWrittenBytes);
}

// Returns whether the thread can have the metric. The kernel measures no virtual threads.
bool IsKnownOf(const ThreadValues& thread, uint32_t metric) {
  if (IsUser(metric) || thread.os_tid != 0) return true;
  const MetricInfo& info = InfoOf(static_cast<Metric>(metric));
  return info.origin != MetricOrigin::kKernel || info.metric == Metric::kWall;
}

ReportedMetric Describe(const MetricInfo& info) {
  return {.number = static_cast<uint32_t>(info.metric),
          .name = std::string(info.name),
          .unit = std::string(info.unit),
          .what = std::string(info.what),
          .may_fall = IsLevel(info.metric),
          .by_thread = info.reach != Reach::kProcess};
}

// Returns the metrics that can be read now. Those that only the call trees know are in traces.
std::vector<ReportedMetric> Counted(const ThreadCounters& counters) {
  std::vector<ReportedMetric> counted;
  for (const MetricInfo& info : AllMetrics()) {
    if (info.origin != MetricOrigin::kTree) counted.push_back(Describe(info));
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

// Returns the index of cpu.ns, which shows how busy a thread is; metrics.size(): it is not there.
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

void AddMetric(const ReportedMetric& metric, JsonWriter& json) {
  json.BeginObject();
  json.Text("name", Utf8Of(metric.name));
  json.Text("unit", Utf8Of(metric.unit));
  json.Text("what", Utf8Of(metric.what));
  json.Bool("by_thread", metric.by_thread);
  json.Int("process", metric.process);
  if (metric.ended) json.Int("ended", *metric.ended);
  json.EndObject();
}

void AddTotals(const MetricsReport& report, const std::vector<std::optional<int64_t>>& values,
               JsonWriter& json) {
  json.Key("totals");
  json.BeginObject();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) json.Int(Utf8Of(report.metrics[i].name), *values[i]);
  }
  json.EndObject();
}

void AddThread(const MetricsReport& report, const ReportedThread& thread, JsonWriter& json) {
  json.BeginObject();
  json.Text("name", Utf8Of(thread.name));
  json.Int("java_tid", static_cast<int64_t>(thread.java_tid));
  json.Int("os_tid", thread.os_tid);
  json.Bool("virtual", thread.os_tid == 0);
  json.Bool("partial", thread.is_partial);
  AddTotals(report, thread.values, json);
  json.EndObject();
}

// A metric of Prometheus: its name has letters, digits and '_'; "cpu.ns" becomes seconds.
struct Family {
  std::string name = {};  // "cpu_seconds_total"
  bool in_seconds = false;
};

Family FamilyOf(const ReportedMetric& metric, absl::flat_hash_set<std::string>& names) {
  Family family = {.in_seconds = metric.unit == "ns"};
  absl::string_view stem = metric.name;
  if (family.in_seconds) absl::ConsumeSuffix(&stem, ".ns");
  family.name = std::string(stem);
  std::replace_if(
      family.name.begin(), family.name.end(),
      [](char c) { return !absl::ascii_isalnum(static_cast<unsigned char>(c)); }, '_');
  if (family.in_seconds) family.name += "_seconds";
  // "a.b" and "a_b" get the same name: the second one has its number in its name.
  if (!names.insert(family.name).second) absl::StrAppend(&family.name, "_", metric.number);
  names.insert(family.name);
  if (!metric.may_fall) family.name += "_total";
  return family;
}

std::string Value(int64_t value, const Family& family) {
  if (!family.in_seconds) return absl::StrCat(value);
  constexpr int64_t kSecond = 1'000'000'000;
  return absl::StrFormat("%s%d.%09d", value < 0 ? "-" : "", std::abs(value / kSecond),
                         std::abs(value % kSecond));
}

void AddHead(const std::string& name, const ReportedMetric& metric, absl::string_view whose,
             std::string& out) {
  const std::string what = absl::StrReplaceAll(metric.what, {{"\\", "\\\\"}, {"\n", "\\n"}});
  absl::StrAppend(&out, "# HELP ", name, " ", what, whose, "\n");
  absl::StrAppend(&out, "# TYPE ", name, metric.may_fall ? " gauge" : " counter", "\n");
}

void AddSample(const std::string& name, absl::string_view thread, uint64_t tid, pid_t os_tid,
               const std::string& value, std::string& out) {
  absl::StrAppend(&out, name, "{thread=\"", PrometheusLabel(Utf8Of(thread)), "\",tid=\"", tid,
                  "\",os_tid=\"", os_tid, "\"} ", value, "\n");
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
  // Read after the threads, so that the process's total is no less than their sum.
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

absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view options) {
  MetricsFormat format;
  for (const absl::string_view option : absl::StrSplit(options, ' ', absl::SkipWhitespace())) {
    absl::string_view value = option;
    const bool is_format = absl::ConsumePrefix(&value, "--format=");
    if (is_format && value == "json") {
      format.kind = MetricsFormat::kJson;
    } else if (is_format && value == "prometheus") {
      format.kind = MetricsFormat::kPrometheus;
    } else if (is_format) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown format '", value, "': json or prometheus"));
    } else if (!absl::ConsumePrefix(&value, "--threads=") ||
               !absl::SimpleAtoi(value, &format.threads)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "metrics takes --format=json|prometheus and --threads=NUMBER, not '", option, "'"));
    }
  }
  return format;
}

std::string Format(MetricsReport report, const MetricsFormat& format) {
  if (format.kind == MetricsFormat::kPrometheus) return MetricsAsPrometheus(report);
  SumThreadsBeyond(format.threads, report);
  return MetricsAsJson(report);
}

std::string Utf8Of(absl::string_view text) {
  return ValidUtf8(FromModifiedUtf8(std::string(text)));
}

std::string PrometheusLabel(absl::string_view utf8) {
  return absl::StrReplaceAll(utf8, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

std::string MetricsAsJson(const MetricsReport& report) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Int("pid", report.pid);
  json.Int("ended_threads", static_cast<int64_t>(report.ended_threads));
  const auto add_metric = [&](const ReportedMetric& metric) {
    json.NewLine();
    AddMetric(metric, json);
  };
  const auto add_thread = [&](const ReportedThread& thread) {
    json.NewLine();
    AddThread(report, thread, json);
  };
  json.List("metrics", report.metrics, add_metric);
  json.List("threads", report.threads, add_thread);
  if (report.more_threads != 0) {
    json.Key("more");
    json.BeginObject();
    json.Int("threads", static_cast<int64_t>(report.more_threads));
    AddTotals(report, report.more, json);
    json.EndObject();
  }
  json.EndObject();
  return out + "\n";
}

std::string MetricsAsPrometheus(const MetricsReport& report) {
  std::string out;
  absl::flat_hash_set<std::string> names;
  for (size_t i = 0; i < report.metrics.size(); ++i) {
    const ReportedMetric& metric = report.metrics[i];
    const Family family = FamilyOf(metric, names);
    const std::string process = absl::StrCat("jtrace_process_", family.name);
    AddHead(process, metric, ", all threads", out);
    absl::StrAppend(&out, process, " ", Value(metric.process, family), "\n");
    if (!metric.by_thread) continue;
    const std::string by_thread = absl::StrCat("jtrace_", family.name);
    AddHead(by_thread, metric, ", by thread", out);
    for (const ReportedThread& thread : report.threads) {
      if (!thread.values[i]) continue;
      AddSample(by_thread, thread.name, thread.java_tid, thread.os_tid,
                Value(*thread.values[i], family), out);
    }
    if (metric.ended) AddSample(by_thread, "(ended)", 0, 0, Value(*metric.ended, family), out);
  }
  return out;
}

}  // namespace jtrace::metrics
