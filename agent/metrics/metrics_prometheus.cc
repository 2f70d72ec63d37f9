// MetricsAsPrometheus.
#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "agent/metrics/metrics_format.h"
#include "agent/metrics/name_text.h"

namespace jtrace::metrics {
namespace {

// A metric of the exposition: names may have letters, digits and '_'; "cpu.ns" becomes seconds.
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
  // "a.b" and "a_b" are two counters.
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
