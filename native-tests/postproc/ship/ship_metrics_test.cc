// What the shipper says of itself.
#include "postproc/ship/ship_metrics.h"

#include <gmock/gmock.h>

#include <sstream>

#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using ::testing::HasSubstr;

TEST(ShipMetricsTest, TextHasEachNumberWithItsTarget) {
  ShipMetrics metrics;
  metrics.shipped = 12;
  metrics.dropped = 3;
  metrics.unreadable = 2;
  metrics.waiting_bytes = 5'000'000'000;
  metrics.targets["otlp:http://h/v1"].retries = 7;
  metrics.targets["otlp:http://h/v1"].works = false;
  metrics.targets["parquet:/a\"b\\c\n"].delivered = 12;
  metrics.targets["parquet:/a\"b\\c\n"].last = absl::FromUnixMillis(1'800'000'000'500);
  const std::string text = MetricsText(metrics, {.own_seconds = 1.5, .children_seconds = 2});
  EXPECT_THAT(text, HasSubstr("jtrace_ship_shipped_total 12\n"));
  EXPECT_THAT(text, HasSubstr("jtrace_ship_dropped_total 3\n"));
  EXPECT_THAT(text, HasSubstr("jtrace_ship_unreadable_traces 2\n"));
  EXPECT_THAT(text, HasSubstr("jtrace_ship_waiting_bytes 5000000000\n"));
  EXPECT_THAT(text, HasSubstr("jtrace_ship_retries_total{target=\"otlp:http://h/v1\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("jtrace_ship_target_works{target=\"otlp:http://h/v1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr(R"(delivered_total{target="parquet:/a\"b\\c\n"} 12)"));
  EXPECT_THAT(text, HasSubstr("} 1800000000.5\n"));
  EXPECT_THAT(text, HasSubstr("cpu_seconds_total{of=\"shipper\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("cpu_seconds_total{of=\"conversions\"} 2\n"));
}

// "name{label="value"} 1.5", as Prometheus reads it.
bool IsSample(std::string_view line) {
  const size_t space = line.rfind(' ');
  double value = 0;
  if (space == std::string_view::npos || !postproc::ParseDouble(line.substr(space + 1), value)) {
    return false;
  }
  std::string_view series = line.substr(0, space);
  const size_t name = series.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (name == std::string_view::npos) return true;
  series.remove_prefix(name);
  return series.starts_with('{') && series.ends_with("\"}") &&
         series.find("=\"") != std::string_view::npos;
}

TEST(ShipMetricsTest, EachLineIsOfTheFormat) {
  ShipMetrics metrics;
  metrics.targets["pprof:http://h/ingest"];
  std::istringstream lines(MetricsText(metrics, CostOfThisProcess()));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const bool is_comment =
        line.starts_with("# HELP jtrace_ship_") || line.starts_with("# TYPE jtrace_ship_");
    EXPECT_TRUE(is_comment || IsSample(line)) << line;
  }
  EXPECT_GT(count, 40);
}

TEST(ShipMetricsTest, CostsAreThoseOfTheProcess) {
  const ProcessCost cost = CostOfThisProcess();
  EXPECT_GT(cost.resident_bytes, 1'000'000U);
}

}  // namespace
}  // namespace jtrace::ship
