#include "agent/metrics/metrics_format.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace jtrace::metrics {

absl::StatusOr<MetricsFormat> ParseMetricsFormat(absl::string_view option) {
  absl::string_view value = option;
  const bool is_format = absl::ConsumePrefix(&value, "--format=");
  if (option.empty() || (is_format && value == "json")) return MetricsFormat::kJson;
  if (is_format && value == "prometheus") return MetricsFormat::kPrometheus;
  if (is_format) {
    return absl::InvalidArgumentError(absl::StrCat("no format '", value, "': json or prometheus"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("metrics takes --format=json or --format=prometheus, not '", option, "'"));
}

std::string Format(const MetricsReport& report, MetricsFormat format) {
  return format == MetricsFormat::kJson ? MetricsAsJson(report) : MetricsAsPrometheus(report);
}

}  // namespace jtrace::metrics
