// MetricsAsJson.
#include "absl/strings/str_cat.h"
#include "agent/metrics/metrics_text.h"
#include "agent/metrics/name_text.h"

namespace jtrace::metrics {
namespace {

std::string Quoted(absl::string_view text) { return JsonString(Utf8Of(text)); }

void AddMetric(const ReportedMetric& metric, std::string& out) {
  absl::StrAppend(&out, "{\"name\":", Quoted(metric.name), ",\"unit\":", Quoted(metric.unit),
                  ",\"what\":", Quoted(metric.what), ",\"process\":", metric.process);
  if (metric.ended) absl::StrAppend(&out, ",\"ended\":", *metric.ended);
  out += '}';
}

void AddThread(const MetricsReport& report, const ReportedThread& thread, std::string& out) {
  absl::StrAppend(&out, "{\"name\":", Quoted(thread.name), ",\"java_tid\":", thread.java_tid,
                  ",\"os_tid\":", thread.os_tid,
                  ",\"virtual\":", thread.os_tid == 0 ? "true" : "false",
                  ",\"partial\":", thread.is_partial ? "true" : "false", ",\"totals\":{");
  const char* separator = "";
  for (size_t i = 0; i < report.metrics.size(); ++i) {
    if (!thread.values[i]) continue;
    absl::StrAppend(&out, separator, Quoted(report.metrics[i].name), ":", *thread.values[i]);
    separator = ",";
  }
  out += "}}";
}

}  // namespace

std::string MetricsAsJson(const MetricsReport& report) {
  std::string out = absl::StrCat("{\"pid\":", report.pid,
                                 ",\"ended_threads\":", report.ended_threads, ",\"metrics\":[");
  const char* separator = "\n";
  for (const ReportedMetric& metric : report.metrics) {
    out += separator;
    AddMetric(metric, out);
    separator = ",\n";
  }
  out += "],\"threads\":[";
  separator = "\n";
  for (const ReportedThread& thread : report.threads) {
    out += separator;
    AddThread(report, thread, out);
    separator = ",\n";
  }
  return out + "]}\n";
}

}  // namespace jtrace::metrics
