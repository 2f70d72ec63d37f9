#include "agent/options/metric_options.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "agent/metrics/metric.h"
#include "agent/signal_safe/tree_node.h"
#include "common/nearest.h"

namespace jtrace {
namespace {

constexpr absl::string_view kUser = "user.";

// Whether there is an elapsed.NAME: threads' values of the metric are summed. Those of calls out of
// scope are not, because they are charged where they are counted.
bool AddsUp(absl::string_view name) {
  if (absl::StartsWith(name, metrics::kElapsedPrefix)) return false;
  const std::optional<metrics::Metric> metric = metrics::FindMetric(name);
  if (!metric) return true;  // a user's counter
  return metrics::IsChargedToPaths(metrics::InfoOf(*metric)) &&
         MetricOfBoundaryCalls({std::string(name)}).empty();
}

absl::Status CheckName(absl::string_view name) {
  if (absl::ConsumePrefix(&name, metrics::kElapsedPrefix)) {
    if (AddsUp(name)) return CheckName(name);
    return absl::InvalidArgumentError(
        absl::StrCat("no metric '", metrics::kElapsedPrefix, name,
                     "': only metrics of call paths add up over threads, such as "
                     "elapsed.alloc.bytes (try help)"));
  }
  if (metrics::FindMetric(name) || (absl::StartsWith(name, kUser) && name != kUser)) {
    return absl::OkStatus();
  }
  const auto name_of = [](const metrics::MetricInfo& info) { return info.name; };
  return absl::InvalidArgumentError(absl::StrCat("no metric '", name, "'; did you mean '",
                                                 Nearest(name, metrics::AllMetrics(), name_of),
                                                 "'? (try help)"));
}

void AddName(absl::string_view name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

}  // namespace

absl::Status ParseMetricNames(absl::string_view value, std::vector<std::string>& names) {
  for (absl::string_view item : absl::StrSplit(value, ';', absl::SkipWhitespace())) {
    const absl::string_view name = absl::StripAsciiWhitespace(item);
    if (absl::Status status = CheckName(name); !status.ok()) return status;
    AddName(absl::StripPrefix(name, metrics::kElapsedPrefix), names);
    AddName(name, names);
  }
  if (!names.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("needs a metric such as alloc.bytes");
}

namespace {

absl::string_view FirstOf(absl::Span<const metrics::Metric> wanted,
                          const std::vector<std::string>& names) {
  for (const metrics::Metric metric : wanted) {
    if (HasMetric(names, metric)) return metrics::InfoOf(metric).name;
  }
  return "";
}

bool IsChargedToPaths(absl::string_view name) {
  absl::ConsumePrefix(&name, metrics::kElapsedPrefix);
  const std::optional<metrics::Metric> metric = metrics::FindMetric(name);
  return !metric || metrics::IsChargedToPaths(metrics::InfoOf(*metric));  // user.NAME is
}

}  // namespace

bool HasMetric(const std::vector<std::string>& names, metrics::Metric metric) {
  return std::find(names.begin(), names.end(), metrics::InfoOf(metric).name) != names.end();
}

absl::string_view MetricOfObjects(const std::vector<std::string>& metrics) {
  return FirstOf(
      {metrics::Metric::kAllocObjects, metrics::Metric::kLiveBytes, metrics::Metric::kFreedBytes,
       metrics::Metric::kLiveObjects, metrics::Metric::kFreedObjects},
      metrics);
}

absl::string_view MetricOfBoundaryCalls(const std::vector<std::string>& metrics) {
  return FirstOf({metrics::Metric::kOutside, metrics::Metric::kBoundaryElements}, metrics);
}

bool CountsAllocationSites(const std::vector<std::string>& metrics) {
  return HasMetric(metrics, metrics::Metric::kAllocSites);
}

absl::string_view MetricOfAllThreads(const std::vector<std::string>& metrics) {
  for (const std::string& name : metrics) {
    if (absl::StartsWith(name, metrics::kElapsedPrefix)) return name;
  }
  return "";
}

std::vector<std::string> WithBoundaryMetrics(std::vector<std::string> names, bool with_time) {
  auto charged = static_cast<uint32_t>(std::count_if(names.begin(), names.end(), IsChargedToPaths));
  const auto add = [&](metrics::Metric metric) {
    if (HasMetric(names, metric) || charged >= signal_safe::kMaxPathMetrics) return;
    names.emplace_back(metrics::InfoOf(metric).name);
    ++charged;
  };
  if (with_time) add(metrics::Metric::kOutside);
  add(metrics::Metric::kBoundaryElements);
  return names;
}

std::string MetricsHelp() {
  std::string out =
      "metrics, where they are known (call path, thread or process) and their cost:\n";
  for (const metrics::MetricInfo& info : metrics::AllMetrics()) {
    absl::StrAppendFormat(&out, "  %-16s %-8s %s\n", info.name, metrics::ReachName(info.reach),
                          absl::StrCat(info.what, info.unit.empty() ? "" : ", ", info.unit));
    absl::StrAppendFormat(&out, "  %-25s %s; %s\n", "", info.exactness, info.cost);
  }
  absl::StrAppend(
      &out, "  user.NAME        path     one of the program's own counters\n",
      "  elapsed.NAME     path     what all threads were charged with meanwhile, for NAME "
      "of a call path\n");
  return out;
}

}  // namespace jtrace
