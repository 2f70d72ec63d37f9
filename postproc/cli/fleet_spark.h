// `jtrace fleet --engine=spark://…`: the queries run on Spark, by its spark-submit and a script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/duckdb/session.h"

namespace jtrace::control {

// The folder of Spark: --spark=DIR, else SPARK_HOME. NotFound with the remedy: it has no
// bin/spark-submit, or is not named by an absolute path.
absl::StatusOr<std::string> FindSpark(const FleetOptions& options);

// Makes the views, and returns the queries' answers. One Spark application for all of them.
absl::StatusOr<std::vector<postproc::duckdb::Answer>> AskSpark(
    const FleetOptions& options, absl::Span<const std::string> views,
    absl::Span<const std::string_view> queries);

// What the script wrote: {"columns": […], "rows": [[…], …]}.
absl::StatusOr<postproc::duckdb::Answer> ReadSparkAnswer(std::string_view json);

// The line of Spark's log that says most about a failure.
std::string SparkError(std::string_view log);

}  // namespace jtrace::control
