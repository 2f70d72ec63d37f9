// MetricsAsJson.
#include "agent/metrics/metrics_format.h"
#include "agent/metrics/name_text.h"
#include "common/json_writer.h"

namespace jtrace::metrics {
namespace {

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

}  // namespace

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

}  // namespace jtrace::metrics
