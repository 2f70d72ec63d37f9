#include "agent/metrics/metrics_format.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace jtrace::metrics {

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

}  // namespace jtrace::metrics
