// What runs the queries of `jtrace fleet`: DuckDB in this process, or Spark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/duckdb/session.h"

namespace jtrace::control {

// NotFound with the remedy if DuckDB is not there.
absl::StatusOr<postproc::duckdb::Session> OpenDuckDb(const FleetOptions& options);

// The statements before a query: the views that it names, as the engine of `options` reads them.
std::vector<std::string> FleetViews(const FleetOptions& options, std::string_view query);

// The answers of several queries of postproc/fleet/sql, in their order. NotFound with the remedy if
// the engine is not there.
absl::StatusOr<std::vector<postproc::duckdb::Answer>> AskFleet(
    const FleetOptions& options, absl::Span<const std::string_view> queries);

}  // namespace jtrace::control
